// SPDX-License-Identifier: Apache-2.0
// main: the command line of Holdfast, with workflows of your own in it. Your binary is the program:
//
//   int main(int argc, char** argv) { return holdfast::main(argc, argv, {shop_module()}); }
//
// Link holdfast::cli for it.
#pragma once

#include <vector>

#include "holdfast/module.h"

namespace holdfast {

// Gives what main is to return.
int main(int argc, char** argv, const std::vector<Module>& modules);

}  // namespace holdfast
