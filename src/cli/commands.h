// SPDX-License-Identifier: Apache-2.0
// The commands of the program. Each adds itself to the command line; its own file holds the rest.
// A command that ran leaves its exit code in `exit_code`.
#pragma once

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace holdfast::cli {

void add_bench(CLI::App& app, ExitCode& exit_code);
void add_version(CLI::App& app);
void add_cbor(CLI::App& app, ExitCode& exit_code);
void add_defs(CLI::App& app, ExitCode& exit_code);
void add_gc(CLI::App& app, ExitCode& exit_code);
void add_snapshot(CLI::App& app, ExitCode& exit_code);
void add_journal(CLI::App& app, ExitCode& exit_code);
void add_verify(CLI::App& app, ExitCode& exit_code);
void add_reindex(CLI::App& app, ExitCode& exit_code);
void add_salvage(CLI::App& app, ExitCode& exit_code);

}  // namespace holdfast::cli
