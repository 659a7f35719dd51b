// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/server_api.h"
#include "holdfast/main.h"

namespace holdfast::cli {

void add_version(CLI::App& app, const Program& program) {
  const bool has_own = !program.version.empty();
  const std::string text =
      has_own ? program.name + " " + program.version + " (holdfast " HOLDFAST_VERSION ")"
              : "holdfast " HOLDFAST_VERSION;
  std::string document = R"({"version":")" HOLDFAST_VERSION "\"";
  if (has_own)
    document += R"(,"program":)" + json_text(program.name) + R"(,"program_version":)" +
                json_text(program.version);
  app.set_version_flag("--version", text, "print the version");
  CLI::App* command = app.add_subcommand("version", "print the version");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->footer("Example: holdfast version");
  command->callback(
      [json, text, document = document + "}"] { print_line(*json ? document : text); });
}

}  // namespace holdfast::cli
