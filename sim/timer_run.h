// SPDX-License-Identifier: Apache-2.0
// A run with very many timers and a wall clock that jumps, both ways, while they wait; the process
// dies now and then. The ledger holds that none rings early or twice. Here is held that each rings,
// and not much later than it should: as much time as lay between the tick that set it and its own
// has passed then, as a stopwatch has it, and no more than a little.
#pragma once

#include <cstdint>

#include "sim/report.h"

namespace holdfast::sim {

struct TimerOptions {
  std::uint64_t seed = 0;
  std::uint64_t timers = 100'000;
};

// Counts "a timer rings", and the rest of what happened.
Report run_timers(const TimerOptions& options);

}  // namespace holdfast::sim
