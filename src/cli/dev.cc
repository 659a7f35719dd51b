// SPDX-License-Identifier: Apache-2.0
// holdfast dev: a server to try things with: a world in the present folder, the workflows of this
// program, and some work for them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/serving_flags.h"
#include "cli/world_source.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "errors/translate.h"
#include "native/bundle.h"

namespace holdfast::cli {
namespace {

constexpr const char* kWorld = "holdfast-dev.world";

// Whoever has not said the folder here may mean the world of the program, or have forgotten that a
// setting names another one: that gets no other definitions, and no events to try them with.
base::Result<void> check_meant(const ServingOptions& options) {
  const std::string& world = options.engine.dir;
  auto source = offline_source(world, options.engine.modules);
  if (!source && source.error().code() == base::ErrorCode::kNotFound) return {};  // it will be new
  if (!source) return std::move(source).error();
  const auto manifest = (*source)->manifest();
  // What this program has no code for, it does not define either.
  const bool is_strange = !manifest && manifest.error().code() == base::ErrorCode::kConflict;
  if (!manifest && !is_strange)
    return base::Error(manifest.error().code(), manifest.error().where(),
                       manifest.error().message());
  if (manifest) {
    const auto present = manifest->view().find("definitions");
    const defs::Catalogue builtin = defs::builtin_catalogue();
    const base::Bytes own = TRY(defs::closure_of(native::load(options.engine.modules, &builtin)));
    if (present->size() == 0) return {};
    if (std::ranges::equal(present->encoded(), codec::View::of(own).encoded())) return {};
  }
  return base::Error(base::ErrorCode::kConflict, world,
                     "HOLDFAST_WORLD or holdfast.yaml names this world, and it has other "
                     "definitions, which those of this program would replace: say dev " +
                         world + " if that is meant");
}

base::Result<void> begin(Engine& engine, const std::string& url, const Program& program,
                         bool plays) {
  for (const auto& play : {program.play, program.play_on}) {
    if (!plays || !play) continue;
    if (const auto played = play(engine); !played) return errors::inside(played.error());
  }
  print_line("listening on " + url);
  print_line("\nThings to try:");
  if (plays)
    for (const std::string& path : program.worth_a_look) print_line("  curl '" + url + path + "'");
  print_line("  curl '" + url + "/openapi.json'");
  print_line("  holdfast ls --server " + url);
  print_line("  holdfast tail --server " + url);
  print_line("\nInterrupt it (Ctrl-C) to end it; what is there stays, and goes on next time.");
  return {};
}

}  // namespace

void add_dev(CLI::App& app, ExitCode& exit_code, const Program& program) {
  struct Said {
    explicit Said(CLI::App& command) : flags(command) {}
    ServingFlags flags;
    std::string world;
    bool no_demo = false;
  };
  CLI::App* command = app.add_subcommand("dev", "serve a world to try things with");
  auto said = std::make_shared<Said>(*command);
  command->add_option(
      "world", said->world,
      "the folder of the world; made if there is none. Without it, what "
      "HOLDFAST_WORLD or holdfast.yaml say (which must not have other definitions), "
      "or " +
          std::string(kWorld));
  command->add_flag("--no-demo", said->no_demo, "without the workflows of this program");
  command->footer("Example: holdfast dev");
  command->callback([said, &exit_code, &program] {
    auto options = said->flags.settle(program, said->world, kWorld);
    if (!options) {
      exit_code = misused(options.error().to_string());
      return;
    }
    // It is for trying things, wherever that is.
    options->engine.any_file_system = true;
    options->engine.apply_definitions = !said->no_demo;
    if (said->no_demo) {
      options->engine.modules.clear();
      options->engine.handlers.clear();
    }
    const bool is_of_settings = said->world.empty() && options->engine.dir != kWorld;
    if (is_of_settings && !said->no_demo) {
      if (const auto meant = check_meant(*options); !meant) {
        exit_code = refuse(meant.error());
        return;
      }
    }
    exit_code =
        serve(std::move(*options), [said, &program](Engine& engine, const std::string& url) {
          return begin(engine, url, program, !said->no_demo);
        });
  });
}

}  // namespace holdfast::cli
