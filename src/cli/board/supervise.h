// SPDX-License-Identifier: Apache-2.0
// Supervision for `holdfast dev --supervise`: the server runs in a child process, which may kill
// itself with SIGKILL and is then started again. Nothing else about the child is repaired: if it
// ends in any other way, so does the parent, with the same exit code.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "cli/exit_code.h"

namespace holdfast::cli {

// What parent and child share.
struct Supervised {
  std::atomic<std::uint32_t> port = 0;   // that the first child was given; 0: not known yet
  std::atomic<std::uint32_t> kills = 0;  // that children have asked for
  std::uint32_t life = 0;                // of this child, from 1
};

// Before there are threads. The child returns nothing and goes on as the server; the parent returns
// when the last child has ended. A null `shared` was not possible: no memory, and no child.
std::optional<ExitCode> supervise(Supervised*& shared);

// The child's.
[[noreturn]] void kill_self(Supervised& shared);

}  // namespace holdfast::cli
