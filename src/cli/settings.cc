// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bundle/source.h"
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

base::Result<std::vector<Setting>> read_file() {
  std::vector<Setting> found;
  std::error_code problem;
  if (!std::filesystem::exists(kSettingsFile, problem)) return found;
  const std::string json = TRY(bundle::read_as_json(kSettingsFile));
  codec::Normaliser normaliser;
  const auto document = normaliser.from_json(codec::Schema::any(), json);
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
    if (!value.text())
      return base::invalid(std::string(kSettingsFile) + ": " + text, "expected a text");
    found.push_back({name, std::string(*value.text()), kSettingsFile});
  }
  return found;
}

}  // namespace

base::Result<Settings> Settings::load() {
  Settings settings;
  settings.found_ = TRY(read_file());
  for (const SettingName& name : kSettings) {
    const char* value = std::getenv(std::string(name.variable).c_str());
    if (value == nullptr || *value == '\0') continue;
    std::erase_if(settings.found_, [&](const Setting& each) { return each.name == &name; });
    settings.found_.push_back({&name, value, std::string(name.variable)});
  }
  return settings;
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
