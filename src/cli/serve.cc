// SPDX-License-Identifier: Apache-2.0
// holdfast serve: a world behind HTTP.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/serving_flags.h"

namespace holdfast::cli {

void add_serve(CLI::App& app, ExitCode& exit_code, const Program& program) {
  struct Said {
    explicit Said(CLI::App& command) : flags(command) {}
    ServingFlags flags;
    std::string world;
    bool applies = false;
    bool any_file_system = false;
  };
  CLI::App* command = app.add_subcommand("serve", "serve a world over HTTP");
  auto said = std::make_shared<Said>(*command);
  command->add_option("--world", said->world, "the folder of the world; made if there is none");
  command->add_flag("--apply", said->applies, "apply the definitions of this program");
  command->add_flag("--any-file-system", said->any_file_system,
                    "allow file systems that lose data in a power cut");
  command->footer(
      "Runs until SIGINT or SIGTERM, then finishes the requests in progress.\n"
      "Example: holdfast serve --world ./world --listen 127.0.0.1:7411");
  command->callback([said, &exit_code, &program] {
    auto options = said->flags.settle(program, said->world, "");
    if (!options) {
      exit_code = misused(options.error().to_string());
      return;
    }
    options->engine.apply_definitions = said->applies;
    options->engine.any_file_system |= said->any_file_system;
    exit_code =
        serve(std::move(*options), [](Engine&, const std::string& url) -> base::Result<void> {
          print_line("listening on " + url);
          return {};
        });
  });
}

}  // namespace holdfast::cli
