// SPDX-License-Identifier: Apache-2.0
#include "steps/draw.h"

#include <algorithm>
#include <vector>

namespace holdfast::steps {
namespace {

enum class Shape : std::uint8_t { kStep, kEvent, kEnd, kOutside };

struct Node {
  std::string id;
  std::string label;
  Shape shape = Shape::kStep;
};

struct Edge {
  std::string from;
  std::string to;
  std::string label;
  bool is_dotted = false;
};

struct Picture {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

std::string step_id(StepIndex step) { return "s" + std::to_string(step); }
std::string event_id(TypeIndex type) { return "e" + std::to_string(type); }

constexpr char kOutside[] = "outside";

bool is_used(const Graph& graph, TypeIndex type) {
  const auto has = [type](const std::vector<TypeIndex>& types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  return std::any_of(graph.steps().begin(), graph.steps().end(), [&](const StepDef& step) {
    return has(step.accepts) || has(step.returns) || has(step.returns_list) ||
           (step.join && step.join->type == type);
  });
}

void add_events(const Graph& graph, Picture& picture) {
  bool has_outside = false;
  for (TypeIndex type = 0; type < graph.types().size(); ++type) {
    const EventType& event = graph.type(type);
    const bool meets_outside = event.role == Role::kResponse || event.role == Role::kInputRequired;
    if (event.role == Role::kStepFailed || (!meets_outside && !is_used(graph, type))) continue;
    const bool is_end = event.role == Role::kStart || event.role == Role::kStop;
    picture.nodes.push_back({event_id(type), event.schema, is_end ? Shape::kEnd : Shape::kEvent});
    has_outside |= meets_outside;
    if (event.role == Role::kResponse)
      picture.edges.push_back({kOutside, event_id(type), "", false});
    if (event.role == Role::kInputRequired)
      picture.edges.push_back({event_id(type), kOutside, "", false});
  }
  if (has_outside) picture.nodes.push_back({kOutside, kOutside, Shape::kOutside});
}

void add_steps(const Graph& graph, Picture& picture) {
  for (StepIndex step = 0; step < graph.steps().size(); ++step) {
    const StepDef& def = graph.step(step);
    picture.nodes.push_back({step_id(step), def.name, Shape::kStep});
    for (const TypeIndex type : def.accepts) {
      if (graph.type(type).role != Role::kStepFailed)
        picture.edges.push_back({event_id(type), step_id(step), "", false});
    }
    if (def.join) {
      const std::string label =
          def.join->take == 0 ? "all" : "first " + std::to_string(def.join->take);
      picture.edges.push_back({event_id(def.join->type), step_id(step), label, false});
    }
    for (const TypeIndex type : def.returns)
      picture.edges.push_back({step_id(step), event_id(type), "", false});
    for (const TypeIndex type : def.returns_list)
      picture.edges.push_back({step_id(step), event_id(type), "many", false});
    if (const auto handler = graph.handler_of(step))
      picture.edges.push_back({step_id(step), step_id(*handler), "fails", true});
  }
}

Picture picture_of(const Graph& graph) {
  Picture picture;
  add_events(graph, picture);
  add_steps(graph, picture);
  return picture;
}

// A label in quotation marks. Names have no such characters, but a label is nobody's code.
std::string quoted(const std::string& label, const char* mark) {
  std::string text = "\"";
  for (const char c : label) {
    if (c == '"') {
      text += mark;
    } else if (c != '\n' && c != '\\') {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace

std::string draw_mermaid(const Graph& graph) {
  const Picture picture = picture_of(graph);
  std::string out = "flowchart TD\n";
  for (const Node& node : picture.nodes) {
    const std::string label = quoted(node.label, "#quot;");
    out += "  " + node.id;
    switch (node.shape) {
      case Shape::kStep: out += "[" + label + "]"; break;
      case Shape::kEvent: out += "(" + label + ")"; break;
      case Shape::kEnd: out += "([" + label + "])"; break;
      case Shape::kOutside: out += "{{" + label + "}}"; break;
    }
    out += "\n";
  }
  for (const Edge& edge : picture.edges) {
    out += "  " + edge.from + (edge.is_dotted ? " -.->" : " -->");
    if (!edge.label.empty()) out += "|" + edge.label + "|";
    out += " " + edge.to + "\n";
  }
  return out;
}

std::string draw_dot(const Graph& graph) {
  const Picture picture = picture_of(graph);
  std::string out = "digraph steps {\n";
  for (const Node& node : picture.nodes) {
    out += "  " + node.id + " [label=" + quoted(node.label, "\\\"") + ", shape=";
    switch (node.shape) {
      case Shape::kStep: out += "box"; break;
      case Shape::kEvent: out += "ellipse"; break;
      case Shape::kEnd: out += "ellipse, peripheries=2"; break;
      case Shape::kOutside: out += "hexagon"; break;
    }
    out += "];\n";
  }
  for (const Edge& edge : picture.edges) {
    out += "  " + edge.from + " -> " + edge.to;
    if (edge.is_dotted || !edge.label.empty()) {
      out += " [label=" + quoted(edge.label, "\\\"") +
             (edge.is_dotted ? std::string(", style=dotted") : std::string()) + "]";
    }
    out += ";\n";
  }
  return out + "}\n";
}

}  // namespace holdfast::steps
