// SPDX-License-Identifier: Apache-2.0
// A state as bytes and back; docs/formats/steps.md has the form. Straight: everything is written
// and read once, in order, and what is read borrows its values from the bytes.
#pragma once

#include <cstddef>
#include <optional>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"
#include "steps/state.h"

namespace holdfast::steps {

void write_state(codec::Buffer& out, const State& state);

// Nothing: they are not a state of this graph.
std::optional<State> read_state(base::ByteView bytes, const Graph& graph);

}  // namespace holdfast::steps
