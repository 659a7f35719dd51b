// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands.h"

namespace holdfast::cli {

void add_version(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "print the version");
  command->footer("Example: holdfast version");
  command->callback([] { std::puts("holdfast " HOLDFAST_VERSION); });
}

}  // namespace holdfast::cli
