// SPDX-License-Identifier: Apache-2.0
// What in a run has a time: when the next of it is due, and what is due by now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "steps/state.h"
#include "steps/tick.h"

namespace holdfast::steps {

std::optional<std::uint64_t> next_due(const State& state);

// The earliest first. Of two that are due at once: the end of the run, then waits, then retries.
// Reducing one of them makes nothing else due.
std::vector<Tick> due_by(const State& state, std::uint64_t now_ns);

}  // namespace holdfast::steps
