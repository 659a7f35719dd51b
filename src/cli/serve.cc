// SPDX-License-Identifier: Apache-2.0
// holdfast serve: a world behind HTTP.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/serving.h"
#include "cli/settings.h"

namespace holdfast::cli {

namespace {

// What no flag has said.
base::Result<void> fill_in(ServingOptions& options, bool listen_is_said) {
  const Settings settings = TRY(Settings::load());
  const auto fill = [&](std::string& value, std::string_view key) {
    const Setting* setting = settings.find(key);
    if (value.empty() && setting != nullptr) value = setting->value;
  };
  fill(options.engine.dir, "world");
  fill(options.tls.certificate, "tls-certificate");
  fill(options.tls.key, "tls-key");
  fill(options.tls.client_authorities, "client-authorities");
  const Setting* listen = settings.find("listen");
  if (!listen_is_said && listen != nullptr) options.listen = listen->value;
  if (options.engine.dir.empty())
    return base::invalid("", "--world is required\n(or HOLDFAST_WORLD, or world in holdfast.yaml)");
  return {};
}

}  // namespace

void add_serve(CLI::App& app, ExitCode& exit_code, const Program& program) {
  auto options = std::make_shared<ServingOptions>();
  options->engine.apply_definitions = false;
  CLI::App* command = app.add_subcommand("serve", "serve a world over HTTP");
  command->add_option("--world", options->engine.dir,
                      "the folder of the world; made if there is none");
  CLI::Option* listen = command
                            ->add_option("--listen", options->listen,
                                         "ADDRESS:PORT; beyond loopback tokens are needed")
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
  command->callback([options, &exit_code, &program, listen] {
    const auto filled = fill_in(*options, listen->count() > 0);
    if (!filled) {
      exit_code = misused(filled.error().to_string());
      return;
    }
    options->engine.modules = program.modules;
    options->engine.handlers = program.handlers;
    exit_code = serve(*options, [](Engine&, const std::string& url) -> base::Result<void> {
      print_line("listening on " + url);
      return {};
    });
  });
}

}  // namespace holdfast::cli
