// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app("A durable workflow engine.", "holdfast");
  app.require_subcommand(1);
  holdfast::cli::add_version(app);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
