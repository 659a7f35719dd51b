// SPDX-License-Identifier: Apache-2.0
// What the program tells the shell.
#pragma once

namespace holdfast::cli {

enum class ExitCode : int {
  kDone = 0,
  kRefused = 1,    // the input was refused, or something was found
  kUsage = 2,      // the command line was wrong
  kTryAgain = 75,  // somebody is busy; the same may succeed later (EX_TEMPFAIL)
};

}  // namespace holdfast::cli
