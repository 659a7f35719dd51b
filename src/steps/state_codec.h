// SPDX-License-Identifier: Apache-2.0
// A state as bytes and back; docs/formats/steps.md has the form. Straight: everything is written
// and read once, in order, and what is read borrows its values from the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"
#include "steps/state.h"

namespace holdfast::steps {

void write_state(codec::Buffer& out, const State& state);

// What stands in a part beside the state, see steps/parts.h.
void write_list(codec::Buffer& out, std::span<const Attempt> attempts);
void write_list(codec::Buffer& out, std::span<const Event> events);

// False: they are no such list of this graph. What is read borrows from the bytes.
bool read_list(base::ByteView bytes, const Graph& graph, std::vector<Attempt>& attempts);
bool read_list(base::ByteView bytes, const Graph& graph, std::vector<Event>& events);

// Nothing: they are not a state of this graph.
std::optional<State> read_state(base::ByteView bytes, const Graph& graph);

}  // namespace holdfast::steps
