// SPDX-License-Identifier: Apache-2.0
// The graph of a step workflow as a picture: Mermaid, or DOT for Graphviz. Steps are boxes, events
// ovals; what asks somebody outside and what comes from there meet at a node of their own.
#pragma once

#include <string>

#include "steps/graph.h"

namespace holdfast::steps {

std::string draw_mermaid(const Graph& graph);
std::string draw_dot(const Graph& graph);

}  // namespace holdfast::steps
