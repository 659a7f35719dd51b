// SPDX-License-Identifier: Apache-2.0
// What in a run has a time, and which of it is next.
#pragma once

#include <cstdint>
#include <optional>

#include "steps/state.h"
#include "steps/tick.h"

namespace holdfast::steps {

struct Due {
  std::uint64_t at_ns = 0;
  Tick tick;
};

// Of two that are due at once: the end of the run, then waits, then retries.
std::optional<Due> next_due(const State& state);

}  // namespace holdfast::steps
