// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace holdfast::cli {

// What to say of a command line whose words name no command. Empty: they do, as far as they go.
std::string wrong_command(CLI::App& app, int argc, char** argv);

}  // namespace holdfast::cli
