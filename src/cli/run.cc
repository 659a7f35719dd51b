// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <csignal>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/help_command.h"
#include "cli/output.h"
#include "holdfast/main.h"

namespace {

using holdfast::cli::ExitCode;

// Also for whoever writes a command line that is wrong. What is behind -- is of other programs.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

ExitCode run(int argc, char** argv, const holdfast::Program& program) {
  CLI::App app("A durable workflow engine.", program.name);
  app.require_subcommand(1);
  ExitCode exit_code = ExitCode::kDone;
  holdfast::cli::add_version(app, program);
  holdfast::cli::add_help(app, exit_code);
  holdfast::cli::add_cbor(app, exit_code);
  holdfast::cli::add_defs(app, exit_code);
  holdfast::cli::add_validate(app, exit_code);
  holdfast::cli::add_graphs(app, exit_code);
  holdfast::cli::add_watch(app, exit_code);
  holdfast::cli::add_logs(app, exit_code);
  holdfast::cli::add_result(app, exit_code);
  holdfast::cli::add_inspect(app, exit_code, program.modules);
  holdfast::cli::add_graph(app, exit_code, program.modules);
  holdfast::cli::add_act(app, exit_code);
  holdfast::cli::add_control(app, exit_code, program.modules);
  holdfast::cli::add_restart(app, exit_code);
  holdfast::cli::add_follow(app, exit_code, program.modules);
  holdfast::cli::add_gov(app, exit_code, program.modules);
  holdfast::cli::add_fork(app, exit_code, program.modules);
  holdfast::cli::add_gc(app, exit_code);
  holdfast::cli::add_snapshot(app, exit_code);
  holdfast::cli::add_journal(app, exit_code);
  holdfast::cli::add_verify(app, exit_code, program.modules);
  holdfast::cli::add_reindex(app, exit_code, program.modules);
  holdfast::cli::add_salvage(app, exit_code, program.modules);
  holdfast::cli::add_backup(app, exit_code, program.modules);
  holdfast::cli::add_workers(app, exit_code);
  holdfast::cli::add_overview(app, exit_code);
  holdfast::cli::add_batch(app, exit_code);
  holdfast::cli::add_schedule(app, exit_code);
  holdfast::cli::add_registry(app, exit_code);
  holdfast::cli::add_swap(app, exit_code);
  holdfast::cli::add_preempt(app, exit_code);
  holdfast::cli::add_pg(app, exit_code);
  holdfast::cli::add_bench(app, exit_code);
  holdfast::cli::add_serve(app, exit_code, program);
  holdfast::cli::add_dev(app, exit_code, program);
  holdfast::cli::add_worker(app, exit_code, program);
  holdfast::cli::add_token(app, exit_code);
  holdfast::cli::add_demo(app, exit_code, program);
  holdfast::cli::add_init(app, exit_code, program.modules);
  holdfast::cli::add_config(app, exit_code);
  holdfast::cli::add_completion(app);
  holdfast::cli::group_commands(app);
  if (asks_for_json(argc, argv)) holdfast::cli::refuse_in_json();
  if (const std::string wrong = holdfast::cli::wrong_command(app, argc, argv); !wrong.empty())
    return holdfast::cli::misused(wrong);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() != 0) {
      return holdfast::cli::misused(holdfast::cli::printable(problem.what()) +
                                    holdfast::cli::meant_option(app, problem) + "\nSee --help.");
    }
    app.exit(problem);                       // somebody asked for help: prints it
  } catch (const std::exception& problem) {  // ours throws nothing; what we use may
    return holdfast::cli::refuse({holdfast::base::ErrorCode::kIo, problem.what()});
  }
  return exit_code;
}

}  // namespace

int holdfast::main(int argc, char** argv, const Program& program) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error like a full disk
  const ExitCode exit_code = run(argc, argv, program);
  const bool written = holdfast::cli::flush_output();
  return static_cast<int>(written || exit_code != ExitCode::kDone ? exit_code : ExitCode::kRefused);
}
