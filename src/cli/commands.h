// SPDX-License-Identifier: Apache-2.0
// The commands of the program. Each adds itself to the command line; its own file holds the rest.
// A command that ran leaves its exit code in `exit_code`. `modules` and `program` are the
// code that is here; they must outlive the command line.
#pragma once

#include <vector>

#include "cli/exit_code.h"
#include "holdfast/module.h"

namespace CLI {
class App;
}

namespace holdfast {
struct Program;  // holdfast/main.h
}

namespace holdfast::cli {

void add_bench(CLI::App& app, ExitCode& exit_code);
void add_version(CLI::App& app, const Program& program);
void add_help(CLI::App& app, ExitCode& exit_code);
void add_cbor(CLI::App& app, ExitCode& exit_code);
void add_defs(CLI::App& app, ExitCode& exit_code);
void add_validate(CLI::App& app, ExitCode& exit_code);
void add_graphs(CLI::App& app, ExitCode& exit_code);
void add_watch(CLI::App& app, ExitCode& exit_code);
void add_logs(CLI::App& app, ExitCode& exit_code);
void add_result(CLI::App& app, ExitCode& exit_code);
void add_schedule(CLI::App& app, ExitCode& exit_code);
void add_gc(CLI::App& app, ExitCode& exit_code);
void add_snapshot(CLI::App& app, ExitCode& exit_code);
void add_journal(CLI::App& app, ExitCode& exit_code);
void add_verify(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_reindex(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_serve(CLI::App& app, ExitCode& exit_code, const Program& program);
void add_dev(CLI::App& app, ExitCode& exit_code, const Program& program);
void add_worker(CLI::App& app, ExitCode& exit_code, const Program& program);
void add_token(CLI::App& app, ExitCode& exit_code);
void add_inspect(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_fork(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_act(CLI::App& app, ExitCode& exit_code);
void add_control(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_restart(CLI::App& app, ExitCode& exit_code);
void add_graph(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_follow(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_gov(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_demo(CLI::App& app, ExitCode& exit_code, const Program& program);
void add_completion(CLI::App& app);
void add_config(CLI::App& app, ExitCode& exit_code);
void add_init(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_salvage(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_backup(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules);
void add_workers(CLI::App& app, ExitCode& exit_code);
void add_overview(CLI::App& app, ExitCode& exit_code);
void add_batch(CLI::App& app, ExitCode& exit_code);
void add_registry(CLI::App& app, ExitCode& exit_code);
void add_swap(CLI::App& app, ExitCode& exit_code);
void add_preempt(CLI::App& app, ExitCode& exit_code);
void add_pg(CLI::App& app, ExitCode& exit_code);

}  // namespace holdfast::cli
