// SPDX-License-Identifier: Apache-2.0
// The reducer: state and tick in, state and commands out. Total: every tick has an outcome in every
// state. It knows no clock; `now_ns` is the time of the tick.
#pragma once

#include <cstdint>
#include <vector>

#include "steps/command.h"
#include "steps/graph.h"
#include "steps/state.h"
#include "steps/tick.h"

namespace holdfast::steps {

// Commands are appended. What they borrow is good as long as the state and the tick are.
void reduce(const Graph& graph, State& state, const Tick& tick, std::uint64_t now_ns,
            std::vector<Command>& commands);

}  // namespace holdfast::steps
