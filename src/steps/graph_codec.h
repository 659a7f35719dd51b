// SPDX-License-Identifier: Apache-2.0
// The graph of a step workflow as it stands in its definition: types and steps by their names, so
// that whoever has the definitions can draw it, and read what a run is at, without the code.
#pragma once

#include <string>

#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "steps/graph.h"

namespace holdfast::steps {

// "plain", "start", "stop", "asks", "answers", "step_failed".
std::string_view name_of(Role role) noexcept;

// A canonical map.
void write_graph(codec::Buffer& out, const Graph& graph);

// kInvalid: it is not of that form; the error names the place, below `path`. Whether it can run is
// for check_graph. What the values of its types must be is not in it.
base::Result<Graph> read_graph(codec::View map, const std::string& path);

}  // namespace holdfast::steps
