// SPDX-License-Identifier: Apache-2.0
// Parts: what waits in a long queue, or was gathered by a long fan-in, stands beside the state of a
// run in a world, a few dozen at a time. A turn reads the part that is next, and writes a part when
// enough has gathered, so that what one result costs does not grow with the length of the fan-out.
//
// What comes of a run does not depend on what is in parts. A part that cannot be read ends the turn
// without any outcome (kernel::StateParts); until then it counts as empty.
#pragma once

#include "kernel/machine.h"
#include "steps/graph.h"
#include "steps/state.h"

namespace holdfast::steps {

// How many make a part. As many more stay in the state, so that none is written to be read at once.
inline constexpr std::size_t kPerPart = 64;

// How many make a part that is not needed soon, so that a long queue has few names. When one is
// next, small ones are made of it.
inline constexpr std::size_t kPerLargePart = 512;

// Behind all that wait.
void add_to_queue(StepState& step, Attempt attempt);

// Moves what is behind the queue into it: the next part, or everything.
void bring_next(const Graph& graph, State& state, StepState& step);
void bring_queue(const Graph& graph, State& state, StepState& step);

// The same for the members of a fan-in.
void bring_members(const Graph& graph, State& state, JoinState& join);
void bring_all(const Graph& graph, State& state);

bool has_parts(const State& state);

// How many wait, or were gathered.
std::size_t count_queued(const StepState& step);
std::size_t count_members(const JoinState& join);

// Before the state is written: makes parts of what is long, and says which there are.
void put_away(const Graph& graph, State& state, kernel::StepOutput& output);

}  // namespace holdfast::steps
