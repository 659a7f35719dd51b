// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace holdfast::cli {

// holdfast registry hold: a lease around any program.
void add_registry_hold(CLI::App& registry, ExitCode& exit_code);

}  // namespace holdfast::cli
