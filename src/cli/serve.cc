// SPDX-License-Identifier: Apache-2.0
// holdfast serve: a world behind HTTP.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/serving.h"

namespace holdfast::cli {

void add_serve(CLI::App& app, ExitCode& exit_code, const Program& program) {
  auto options = std::make_shared<ServingOptions>();
  options->engine.apply_definitions = false;
  CLI::App* command = app.add_subcommand("serve", "serve a world over HTTP");
  command
      ->add_option("--world", options->engine.dir, "the folder of the world; made if there is none")
      ->required();
  command
      ->add_option("--listen", options->listen, "ADDRESS:PORT; beyond loopback tokens are needed")
      ->capture_default_str();
  command->add_flag("--apply", options->engine.apply_definitions,
                    "make the definitions of this program the world's own");
  command->add_option("--tls-certificate", options->tls.certificate, "a PEM file, with its chain");
  command->add_option("--tls-key", options->tls.key, "a PEM file");
  command->add_option("--client-authorities", options->tls.client_authorities,
                      "a PEM file: only clients with a certificate of these may connect");
  command->add_flag("--any-file-system", options->engine.any_file_system,
                    "also where a power cut may lose data");
  command->footer(
      "Stays until SIGINT or SIGTERM, and then answers what is under way.\n"
      "Example: holdfast serve --world ./world --listen 127.0.0.1:7411");
  command->callback([options, &exit_code, &program] {
    options->engine.modules = program.modules;
    options->engine.handlers = program.handlers;
    exit_code = serve(*options, [](Engine&, const std::string& url) -> base::Result<void> {
      print_line("listening on " + url);
      return {};
    });
  });
}

}  // namespace holdfast::cli
