// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "bundle/source.h"
#include "cli/variables.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"

namespace holdfast::cli {
namespace {

const SettingName* name_of(std::string_view key) {
  const auto found = std::ranges::find(kSettings, key, &SettingName::key);
  return found == kSettings.end() ? nullptr : &*found;
}

std::string known_keys() {
  std::string keys;
  for (const SettingName& name : kSettings)
    keys += (keys.empty() ? "" : ", ") + std::string(name.key);
  return keys;
}

base::Result<std::string> value_in_file(const SettingName& name, codec::View value) {
  const auto expected = [&](const char* what) {
    return base::invalid(std::string(kSettingsFile) + ": " + std::string(name.key),
                         std::string("expected ") + what);
  };
  if (const auto text = value.text()) return std::string(*text);
  switch (name.kind) {
    case SettingKind::kNumber:
      if (value.nat()) return codec::to_json(value);
      return expected("a number, or a text");
    case SettingKind::kFlag:
      if (value.boolean()) return codec::to_json(value);
      return expected("true or false");
    case SettingKind::kList: break;
    case SettingKind::kText:
    case SettingKind::kSecret: return expected("a text");
  }
  if (value.kind() != codec::ViewKind::kList) return expected("a list of texts");
  std::string joined;
  for (const codec::View each : value.elements()) {
    const auto text = each.text();
    if (!text || text->empty() || text->find(',') != std::string_view::npos)
      return expected("a list of texts without commas");
    joined += (joined.empty() ? "" : ",") + std::string(*text);
  }
  return joined;
}

base::Result<std::vector<Setting>> read_file() {
  std::vector<Setting> found;
  std::error_code problem;
  if (!std::filesystem::exists(kSettingsFile, problem)) return found;
  auto json = bundle::read_as_json(kSettingsFile);
  if (!json) return std::move(json).error().within(kSettingsFile);
  codec::Normaliser normaliser;
  const auto document = normaliser.from_json(codec::Schema::any(), *json);
  if (!document) return base::invalid(kSettingsFile, document.error().to_string());
  const codec::View settings = codec::View::of(*document);
  if (settings.kind() != codec::ViewKind::kMap)
    return base::invalid(kSettingsFile, "expected keys and values");
  for (const auto& [key, value] : settings.entries()) {
    const std::string text(key.text().value_or(""));
    const SettingName* name = name_of(text);
    if (name == nullptr) {
      return base::invalid(std::string(kSettingsFile) + ": " + text,
                           "there is no such setting; there are " + known_keys());
    }
    auto said = TRY(value_in_file(*name, value));
    found.push_back({name, std::move(said), kSettingsFile});
  }
  return found;
}

}  // namespace

base::Result<Settings> Settings::load(std::string_view secrets,
                                      const std::vector<std::string>& also) {
  Settings settings;
  settings.found_ = TRY(read_file());
  for (const SettingName& name : kSettings) {
    const char* value = std::getenv(std::string(name.variable).c_str());
    if (value == nullptr || *value == '\0') continue;
    std::erase_if(settings.found_, [&](const Setting& each) { return each.name == &name; });
    settings.found_.push_back({&name, value, std::string(name.variable)});
  }
  const Setting* setting = settings.find("secret-variables");
  if (secrets.empty() && setting != nullptr) secrets = setting->value;
  std::string all(secrets);
  for (const std::string& name : also) all += "," + name;
  TRY(check_variables(all));
  return settings;
}

std::string Setting::place() const {
  return from == kSettingsFile ? from + ": " + std::string(name->key) : from;
}

const Setting* Settings::find(std::string_view key) const {
  const auto found = std::ranges::find_if(
      found_, [&](const Setting& setting) { return setting.name->key == key; });
  return found == found_.end() ? nullptr : &*found;
}

void Settings::give(std::string_view key, const std::string& value) {
  const SettingName* name = name_of(key);
  std::erase_if(found_, [&](const Setting& each) { return each.name == name; });
  found_.push_back({name, value, "--" + std::string(key)});
}

}  // namespace holdfast::cli
