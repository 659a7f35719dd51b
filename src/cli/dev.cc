// SPDX-License-Identifier: Apache-2.0
// holdfast dev: a server to try things with: a world in the present folder, the workflows of this
// program, and some work for them.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/serving.h"
#include "errors/translate.h"

namespace holdfast::cli {
namespace {

base::Result<void> begin(Engine& engine, const std::string& url, const Program& program,
                         bool plays) {
  if (plays && program.play) {
    if (const auto played = program.play(engine); !played) return errors::inside(played.error());
  }
  print_line("listening on " + url);
  print_line("\nThings to try:");
  if (plays)
    for (const std::string& path : program.worth_a_look) print_line("  curl '" + url + path + "'");
  print_line("  curl '" + url + "/openapi.json'");
  print_line("\nInterrupt it (Ctrl-C) to end it; what is there stays, and goes on next time.");
  return {};
}

}  // namespace

void add_dev(CLI::App& app, ExitCode& exit_code, const Program& program) {
  auto options = std::make_shared<ServingOptions>();
  auto no_demo = std::make_shared<bool>(false);
  options->engine.dir = "holdfast-dev.world";
  // It is for trying things, wherever that is.
  options->engine.any_file_system = true;
  CLI::App* command = app.add_subcommand("dev", "serve a world to try things with");
  command
      ->add_option("world", options->engine.dir, "the folder of the world; made if there is none")
      ->capture_default_str();
  command->add_option("--listen", options->listen, "ADDRESS:PORT")->capture_default_str();
  command->add_flag("--no-demo", *no_demo, "without the workflows of this program");
  command->footer("Example: holdfast dev");
  command->callback([options, no_demo, &exit_code, &program] {
    options->engine.apply_definitions = !*no_demo;
    if (!*no_demo) {
      options->engine.modules = program.modules;
      options->engine.handlers = program.handlers;
    }
    exit_code = serve(*options, [&program, no_demo](Engine& engine, const std::string& url) {
      return begin(engine, url, program, !*no_demo);
    });
  });
}

}  // namespace holdfast::cli
