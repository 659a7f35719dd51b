// SPDX-License-Identifier: Apache-2.0
// What a step's body did, as whoever ran it reports it: the `results` of a sys/StepRan@1
// (docs/formats/steps.md). It comes from outside, perhaps from another language: every value in it
// is held against the schema of its type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "steps/graph.h"
#include "steps/tick.h"

namespace holdfast::steps {

// What is read borrows from the bytes and from the arena.
base::Result<std::vector<Did>> read_results(base::ByteView bytes, const Graph& graph, Arena& arena);

// How a body failed, of the `results` of its receipt; nothing: it did not, or they are not results,
// or only say whether to try again after a failure that was told before.
std::optional<Failure> failure_in(base::ByteView results);

// One event of a body. An error: the value is not one of its type.
base::Result<Event> read_event(TypeIndex type, base::ByteView value, const Graph& graph,
                               Arena& arena);

}  // namespace holdfast::steps
