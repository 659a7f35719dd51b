// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"

namespace holdfast::cli {

void add_version(CLI::App& app) {
  app.set_version_flag("--version", "holdfast " HOLDFAST_VERSION, "print the version");
  CLI::App* command = app.add_subcommand("version", "print the version");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->footer("Example: holdfast version");
  command->callback([json] {
    print_line(*json ? "{\"version\":\"" HOLDFAST_VERSION "\"}" : "holdfast " HOLDFAST_VERSION);
  });
}

}  // namespace holdfast::cli
