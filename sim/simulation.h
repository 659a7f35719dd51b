// SPDX-License-Identifier: Apache-2.0
// Simulation: the node as it is in production, on one thread, with a disk, a clock, chance, a
// client and an outside that follow from a seed. Things go wrong for a while: the process dies, the
// power is cut, writes and syncs fail, the disk is full, the clock jumps. After every step the
// ledger must agree. Then nothing goes wrong any more, and everything must come to its end.
#pragma once

#include <cstdint>

#include "sim/report.h"

namespace holdfast::sim {

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t steps = 400;  // in which things may go wrong
  bool keeps_notes = false;
};

Report simulate(const Options& options);

// The fewest steps of a run that still end in a violation.
std::uint64_t shortest(Options failing);

}  // namespace holdfast::sim
