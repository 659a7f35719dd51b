// SPDX-License-Identifier: Apache-2.0
// holdfast config: what commands go by, and where each of it comes from.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/settings.h"
#include "codec/cbor_writer.h"
#include "gateway/documents.h"

namespace holdfast::cli {
namespace {

struct ConfigOptions {
  std::map<std::string, std::string> flags;
  bool json = false;
};

std::string shown_value(const Setting& setting) {
  return setting.name->kind == SettingKind::kSecret ? "(not shown)" : printable(setting.value);
}

ExitCode run(const ConfigOptions& options) {
  auto settings = Settings::load();
  if (!settings) return misused(printable(settings.error().to_string()));
  for (const auto& [key, value] : options.flags) {
    if (!value.empty()) settings->give(key, value);
  }
  if (options.json) {
    codec::Buffer out;
    codec::write_map_head(out, settings->all().size());
    for (const Setting& setting : settings->all()) {
      codec::write_text(out, setting.name->key);
      codec::write_map_head(out, 2);
      gateway::put(out, "value", shown_value(setting));
      gateway::put(out, "from", setting.from);
    }
    print_json(codec::View::of(out.view()));
    return ExitCode::kDone;
  }
  std::vector<std::vector<std::string>> rows{{"SETTING", "VALUE", "FROM"}};
  for (const SettingName& name : kSettings) {
    const Setting* setting = settings->find(name.key);
    rows.push_back({std::string(name.key), setting == nullptr ? "" : shown_value(*setting),
                    setting == nullptr ? "" : setting->from});
  }
  print_table(rows);
  return ExitCode::kDone;
}

}  // namespace

void add_config(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command =
      app.add_subcommand("config", "show the effective settings and where they come from");
  for (const SettingName& name : kSettings) {
    command->add_option("--" + std::string(name.key), options->flags[std::string(name.key)],
                        (name.of == SettingOf::kServer ? "of a server: " : "") +
                            std::string(name.what) + " (" + std::string(name.variable) + ")");
  }
  command->add_flag("--json", options->json, "print JSON");
  command->footer(
      "Flags override environment variables, which override holdfast.yaml in the current folder.\n"
      "Example: HOLDFAST_SERVER=http://127.0.0.1:7411 holdfast config");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace holdfast::cli
