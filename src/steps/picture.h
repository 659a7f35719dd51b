// SPDX-License-Identifier: Apache-2.0
// Picture: a step workflow, or one run of it, as boxes and arrows; how they are drawn is another
// question (steps/draw.h). Steps are boxes, events ovals; what asks somebody outside and what comes
// from there meet at a node of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steps/execution.h"
#include "steps/graph.h"

namespace holdfast::steps {

struct Picture {
  enum class Shape : std::uint8_t { kStep, kEvent, kEnd, kOutside };
  // Of one run: what became of it. All of a workflow alone is plain.
  enum class Tone : std::uint8_t { kPlain, kUnused, kDone, kRunning, kWaiting, kFailed };

  struct Node {
    std::string id;
    std::string label;
    Shape shape = Shape::kStep;
    Tone tone = Tone::kPlain;
    std::vector<std::string> notes = {};  // lines below the label
  };
  struct Edge {
    std::string from;
    std::string to;
    std::string label;
    bool is_dotted = false;
    bool is_unused = false;
  };

  std::vector<std::string> title = {};  // lines above it
  std::vector<Node> nodes = {};
  std::vector<Edge> edges = {};
};

// The ids of nodes.
std::string step_id(StepIndex step);
std::string event_id(TypeIndex type);
inline constexpr char kOutsideId[] = "outside";

Picture picture_of(const Graph& graph);

// The same with what happened in it: how often steps ran, what went along the arrows, what failed,
// waits and runs.
Picture picture_of(const Graph& graph, const Execution& execution);

}  // namespace holdfast::steps
