// SPDX-License-Identifier: Apache-2.0
// The help of the whole program: its commands in groups, in the order of docs/cli.md.
#pragma once

namespace CLI {
class App;
}

namespace holdfast::cli {

// When all commands are added. One that no group names is listed with the others.
void group_commands(CLI::App& app);

}  // namespace holdfast::cli
