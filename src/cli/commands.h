// SPDX-License-Identifier: Apache-2.0
// The commands of the program. Each adds itself to the command line; its own file holds the rest.
#pragma once

namespace CLI {
class App;
}

namespace holdfast::cli {

void add_version(CLI::App& app);

}  // namespace holdfast::cli
