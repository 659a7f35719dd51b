// SPDX-License-Identifier: Apache-2.0
#include "steps/draw.h"

#include <algorithm>
#include <vector>

#include "codec/printable.h"
#include "steps/tone_style.h"

namespace holdfast::steps {
namespace {

using Shape = Picture::Shape;
using Tone = Picture::Tone;

constexpr const char* kOutside = kOutsideId;
constexpr std::size_t kMostNodes = 2000;
constexpr std::size_t kMostEdges = 2000;

bool is_used(const Graph& graph, TypeIndex type) {
  const auto has = [type](const std::vector<TypeIndex>& types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  return std::any_of(graph.steps().begin(), graph.steps().end(), [&](const StepDef& step) {
    return has(step.accepts) || has(step.slots) || has(step.returns) || has(step.returns_list) ||
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
    for (const TypeIndex type : def.slots)
      picture.edges.push_back({event_id(type), step_id(step), "one", false});
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

// A text without what could end a line or a label. Names have no such characters, but a label is
// nobody's code.
std::string plain(const std::string& text, std::string_view quotation_mark) {
  const bool is_mermaid = quotation_mark.starts_with('#');
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (const std::size_t bytes = codec::unshown_at(text, i); bytes != 0) {
      i += bytes - 1;
    } else if (c == '"') {
      shown += quotation_mark;
    } else if (c == '<') {
      shown += is_mermaid ? "#lt;" : "<";
    } else if (is_mermaid && (c == '{' || c == '}')) {
      shown += c == '{' ? "#123;" : "#125;";  // %%{...}%% is obeyed, also in a comment
    } else if (c != '\\') {
      shown += c;
    }
  }
  return shown;
}

// A label and its notes, in quotation marks, as lines.
std::string quoted(const Picture::Node& node, std::string_view mark, std::string_view line_end) {
  std::string text = "\"" + plain(node.label, mark);
  for (const std::string& note : node.notes) text.append(line_end).append(plain(note, mark));
  return text + "\"";
}

}  // namespace

std::string step_id(StepIndex step) { return "s" + std::to_string(step); }
std::string event_id(TypeIndex type) { return "e" + std::to_string(type); }

Picture picture_of(const Graph& graph) {
  Picture picture;
  add_events(graph, picture);
  add_steps(graph, picture);
  return picture;
}

base::Result<void> check_size(const Picture& picture) {
  if (picture.nodes.size() <= kMostNodes && picture.edges.size() <= kMostEdges) return {};
  return base::Error(base::ErrorCode::kTooLarge,
                     "a picture has at most " + std::to_string(kMostNodes) + " boxes and " +
                         std::to_string(kMostEdges) + " arrows; this one would have " +
                         std::to_string(picture.nodes.size()) + " and " +
                         std::to_string(picture.edges.size()));
}

std::string draw_mermaid(const Picture& picture) {
  std::string out = "flowchart TD\n";
  for (const std::string& line : picture.title) out += "  %% " + plain(line, "#quot;") + "\n";
  for (const Picture::Node& node : picture.nodes) {
    const std::string label = quoted(node, "#quot;", "<br/>");
    out += "  " + node.id;
    switch (node.shape) {
      case Shape::kStep: out += "[" + label + "]"; break;
      case Shape::kEvent: out += "(" + label + ")"; break;
      case Shape::kEnd: out += "([" + label + "])"; break;
      case Shape::kOutside: out += "{{" + label + "}}"; break;
    }
    if (node.tone != Tone::kPlain) out.append(":::").append(style_of(node.tone).name);
    out += "\n";
  }
  for (const Picture::Edge& edge : picture.edges) {
    out += "  " + edge.from + (edge.is_dotted ? " -.->" : " -->");
    if (!edge.label.empty()) out += "|" + edge.label + "|";
    out += " " + edge.to + "\n";
  }
  for (const ToneStyle& style : kToneStyles) {
    const bool is_used =
        std::any_of(picture.nodes.begin(), picture.nodes.end(), [&](const Picture::Node& node) {
          return node.tone != Tone::kPlain && &style_of(node.tone) == &style;
        });
    if (!is_used) continue;
    out.append("  classDef ").append(style.name).append(" fill:").append(style.fill);
    out.append(",stroke:").append(style.stroke).append("\n");
  }
  return out;
}

std::string draw_dot(const Picture& picture) {
  std::string out = "digraph steps {\n";
  if (!picture.title.empty()) {
    out += "  labelloc=t;\n  label=\"";
    for (std::size_t i = 0; i < picture.title.size(); ++i)
      out += (i == 0 ? "" : "\\n") + plain(picture.title[i], "\\\"");
    out += "\";\n";
  }
  for (const Picture::Node& node : picture.nodes) {
    out += "  " + node.id + " [label=" + quoted(node, "\\\"", "\\n") + ", shape=";
    switch (node.shape) {
      case Shape::kStep: out += "box"; break;
      case Shape::kEvent: out += "ellipse"; break;
      case Shape::kEnd: out += "ellipse, peripheries=2"; break;
      case Shape::kOutside: out += "hexagon"; break;
    }
    if (node.tone != Tone::kPlain) {
      const ToneStyle& style = style_of(node.tone);
      out.append(", style=filled, fillcolor=\"").append(style.fill);
      out.append("\", color=\"").append(style.stroke).append("\"");
    }
    out += "];\n";
  }
  for (const Picture::Edge& edge : picture.edges) {
    out += "  " + edge.from + " -> " + edge.to;
    std::string attributes;
    if (edge.is_dotted || !edge.label.empty()) attributes = "label=\"" + edge.label + "\"";
    if (edge.is_dotted) attributes += ", style=dotted";
    if (edge.is_unused) attributes += attributes.empty() ? "color=gray" : ", color=gray";
    if (!attributes.empty()) out += " [" + attributes + "]";
    out += ";\n";
  }
  return out + "}\n";
}

std::optional<DrawingFormat> drawing_format(std::string_view name) {
  if (name == "mermaid") return DrawingFormat::kMermaid;
  if (name == "dot") return DrawingFormat::kDot;
  if (name == "svg") return DrawingFormat::kSvg;
  return std::nullopt;
}

base::Result<std::string> draw(const Picture& picture, DrawingFormat format) {
  TRY(check_size(picture));
  switch (format) {
    case DrawingFormat::kMermaid: return draw_mermaid(picture);
    case DrawingFormat::kDot: return draw_dot(picture);
    case DrawingFormat::kSvg: break;
  }
  return draw_svg(picture);
}

}  // namespace holdfast::steps
