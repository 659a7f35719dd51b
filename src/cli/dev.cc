// SPDX-License-Identifier: Apache-2.0
// holdfast dev: a server to try things with: a world in the present folder, the workflows of this
// program, and some work for them.
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/board/live_work.h"
#include "cli/board/supervise.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/serving_flags.h"
#include "cli/world_source.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "errors/translate.h"
#include "native/bundle.h"
#include "postgres/install.h"

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
    const defs::Catalogue& builtin = defs::builtin_catalogue();
    const base::Bytes own = TRY(defs::closure_of(native::load(options.engine.modules, &builtin)));
    if (present->size() == 0) return {};
    if (std::ranges::equal(present->encoded(), codec::View::of(own).encoded())) return {};
  }
  return base::Error(base::ErrorCode::kConflict, world,
                     "HOLDFAST_WORLD or holdfast.yaml names this world, and it has other "
                     "definitions, which those of this program would replace: say dev " +
                         world + " if that is meant");
}

// Where there is a display. Whether a browser comes up is not our business.
void open_browser(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  std::string command = "xdg-open";
  std::string address = url;
  char* const arguments[] = {command.data(), address.data(), nullptr};
  pid_t child = 0;
  static_cast<void>(::posix_spawnp(&child, "xdg-open", nullptr, nullptr, arguments, environ) == 0);
}

// A database to try things with gets the schema, or the present version of it.
base::Result<void> prepare_database(const std::string& conninfo) {
  postgres::Patience patience(TRY(executors::WakeUp::make()));
  postgres::Connection connection = TRY(postgres::Connection::open(conninfo, patience));
  TRY(postgres::install(connection));
  return {};
}

void suggest_sql() {
  print_line("\nIn psql, as the role that owns the schema or one that it permits:");
  print_line(
      "  BEGIN; SELECT holdfast.start('demo/RefundCase@1', '{\"id\": \"sql-1\", \"order\": "
      "\"o-1\", "
      "\"cents\": 1990}'); COMMIT;");
  print_line("  SELECT * FROM holdfast.list();");
}

base::Result<void> begin(Engine& engine, const std::string& url, const Program& program, bool plays,
                         bool has_database) {
  for (const auto& play : {program.play, program.play_on}) {
    if (!plays || !play) continue;
    if (const auto played = play(engine); !played) return errors::inside(played.error());
  }
  print_line("listening on " + url);
  print_line("\nOpen " + url + " in a browser. Things to try:");
  if (plays)
    for (const std::string& path : program.worth_a_look) print_line("  curl '" + url + path + "'");
  print_line("  curl '" + url + "/openapi.json'");
  print_line("  holdfast ls --server " + url);
  print_line("  holdfast tail --server " + url);
  if (has_database && plays) suggest_sql();
  print_line("\nInterrupt it (Ctrl-C) to end it; what is there stays, and goes on next time.");
  return {};
}

std::uint32_t port_in(const std::string& url) {
  return static_cast<std::uint32_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

// The child of a supervisor has the port that the first one was given.
base::Result<void> be_supervised(ServingOptions& options, Supervised& shared) {
  options.kill = [&shared] { kill_self(shared); };
  if (shared.port == 0) return {};
  const ListenAddress listen = TRY(parse_listen(options.listen));
  const bool is_v6 = listen.address.find(':') != std::string::npos;
  options.listen =
      (is_v6 ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(shared.port);
  return {};
}

// What comes all the time is forgotten after a while, and many effects are under way at once.
void make_live(EngineOptions& options) {
  for (Handler& handler : options.handlers) handler = LiveWork::slowed(std::move(handler));
  options.handler_threads = 32;
  options.retention = std::chrono::hours(1);
}

}  // namespace

void add_dev(CLI::App& app, ExitCode& exit_code, const Program& program) {
  struct Said {
    explicit Said(CLI::App& command) : flags(command) {}
    ServingFlags flags;
    std::string world;
    bool no_demo = false;
    bool supervises = false;
    bool opens = false;
    unsigned per_second = 0;
    std::unique_ptr<LiveWork> live;
  };
  CLI::App* command = app.add_subcommand("dev", "serve a development world with sample workflows");
  auto said = std::make_shared<Said>(*command);
  command->add_option(
      "world", said->world,
      "the folder of the world; made if there is none. Without it, what "
      "HOLDFAST_WORLD or holdfast.yaml say (which must not have other definitions), "
      "or " +
          std::string(kWorld));
  command->add_flag("--no-demo", said->no_demo, "leave out the sample workflows");
  command
      ->add_option("--live", said->per_second,
                   "begin N pieces of work a second, whose effects take up to a second")
      ->type_name("N")
      ->check(CLI::Range(0, 50));
  command->add_flag("--supervise", said->supervises,
                    "let the page kill the server with SIGKILL, and start it again");
  command->add_flag("--open", said->opens, "open the page in a browser, where there is a display");
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
    const bool is_live = said->per_second > 0 && program.play_one && !said->no_demo;
    if (is_live) make_live(options->engine);
    const bool is_of_settings = said->world.empty() && options->engine.dir != kWorld;
    if (is_of_settings && !said->no_demo) {
      if (const auto meant = check_meant(*options); !meant) {
        exit_code = refuse(meant.error());
        return;
      }
    }
    if (!options->postgres.conninfo.empty()) {
      if (const auto ready = prepare_database(options->postgres.conninfo); !ready) {
        exit_code = refuse(ready.error());
        return;
      }
    }
    Supervised* shared = nullptr;
    if (said->supervises) {
      if (const auto ended = supervise(shared)) {
        exit_code = *ended;
        return;
      }
      if (const auto ready = be_supervised(*options, *shared); !ready) {
        exit_code = refuse(ready.error());
        return;
      }
    }
    // Before anything is logged: the page is the first thing to look for.
    const auto listen = parse_listen(options->listen);
    const bool is_first_life = shared == nullptr || shared->life == 1;
    if (said->opens && is_first_life && listen && listen->port != 0) {
      print_line("http://" + options->listen + " is the page; it opens in a moment");
      std::fflush(stdout);
    }
    // Ends before the engine does, which is inside of `serve`.
    options->stopping = [said] { said->live.reset(); };
    const bool has_database = !options->postgres.conninfo.empty();
    exit_code = serve(std::move(*options), [said, shared, is_live, has_database, &program](
                                               Engine& engine, const std::string& url) {
      const bool is_first = shared == nullptr || shared->life == 1;
      if (shared != nullptr) shared->port = port_in(url);
      if (is_live)
        said->live = std::make_unique<LiveWork>(engine, program.play_one, said->per_second);
      if (!is_first) {
        print_line("listening on " + url + ", again after a kill");
        return base::Result<void>();
      }
      auto begun = begin(engine, url, program, !said->no_demo, has_database);
      if (begun && said->opens) open_browser(url);
      return begun;
    });
  });
}

}  // namespace holdfast::cli
