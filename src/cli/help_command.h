// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace holdfast::cli {

// What to say of a command line whose words name no command. Empty: they do, as far as they go.
std::string wrong_command(CLI::App& app, int argc, char** argv);

// The option that was probably meant, as "; did you mean '--workflow'?", if that is what is wrong.
std::string meant_option(const CLI::App& app, const CLI::Error& problem);

}  // namespace holdfast::cli
