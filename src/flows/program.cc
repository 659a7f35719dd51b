// SPDX-License-Identifier: Apache-2.0
#include "flows/program.h"

#include <algorithm>
#include <array>
#include <optional>

namespace holdfast::flows {
namespace {

using codec::View;
using codec::ViewKind;

// What a kind must have. Fields that it does not name are refused, so that a mistake is not lost.
struct Shape {
  std::string_view name;
  std::size_t least_children = 0;
  std::size_t most_children = 0;
  std::string_view needs = "";     // fields, with blanks
  std::string_view may_have = "";  // the same
};

constexpr std::array<Shape, 18> kShapes{{
    {"sql", 0, 0, "text"},
    {"seq", 1, kMaxNodes},
    {"named", 1, 1, "name"},
    {"join", 1, kMaxNodes},
    {"race", 1, kMaxNodes},
    {"if", 2, 3},
    {"if_rows", 1, 2, "name"},
    {"loop", 1, 2},
    {"break", 0, 0, "", "value"},
    {"sleep", 0, 0, "ms"},
    {"schedule", 0, 0, "text zone"},
    {"signal", 0, 0, "name", "ms"},
    {"http", 0, 0, "value", "ms"},
    {"retry", 1, 1, "count ms"},
    {"timeout", 1, 1, "ms"},
    {"on_error", 2, 2},
    {"each", 1, 1, "name item count"},
    {"task", 0, 0, "value"},
}};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t blank = std::min(words.find(' '), words.size());
    if (words.substr(0, blank) == word) return true;
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  return false;
}

class ProgramReader {
 public:
  base::Result<Program> read(View value) {
    const auto nodes = value.find("nodes");
    if (!nodes || nodes->kind() != ViewKind::kList)
      return base::invalid("nodes", "expected a list");
    if (nodes->size() == 0 || nodes->size() > kMaxNodes)
      return base::invalid("nodes", "expected 1 to " + std::to_string(kMaxNodes) + " nodes");
    program_.nodes.reserve(nodes->size());
    depth_.assign(nodes->size(), 0);
    depth_[0] = 1;
    for (const View node : nodes->elements()) {
      TRY(read_node(node));
    }
    if (const auto path = value.find("path")) program_.path = path->text().value_or("");
    if (const auto variables = value.find("vars")) {
      for (const auto [name, text] : variables->entries())
        program_.variables.emplace_back(name.text().value_or(""), text.text().value_or(""));
    }
    return std::move(program_);
  }

 private:
  base::Error refuse(std::string_view field, std::string message) const {
    std::string place = "nodes[" + std::to_string(program_.nodes.size()) + "]";
    if (!field.empty()) place += "." + std::string(field);
    return base::invalid(place, std::move(message));
  }

  base::Result<void> read_node(View value) {
    const std::size_t own = program_.nodes.size();
    if (depth_[own] == 0) return refuse("", "no node has it as a child");
    const auto kind = value.find("kind");
    const std::string_view word = kind ? kind->text().value_or("") : "";
    const auto shape = std::find_if(kShapes.begin(), kShapes.end(),
                                    [&](const Shape& s) { return s.name == word; });
    if (shape == kShapes.end())
      return refuse("kind", "unknown kind '" + std::string(word.substr(0, 64)) + "'");
    Node node;
    node.kind = static_cast<NodeKind>(shape - kShapes.begin());
    for (const auto [key, field] : value.entries()) {
      const std::string_view name = key.text().value_or("");
      if (name == "kind") continue;
      if (name == "children") {
        TRY(read_children(field, node));
        continue;
      }
      if (!has_word(shape->needs, name) && !has_word(shape->may_have, name))
        return refuse(name, "a node of kind '" + std::string(word) + "' has no such field");
      TRY(read_field(name, field, node));
    }
    for (const std::string_view name : {"text", "name", "zone", "item", "ms", "count", "value"}) {
      if (has_word(shape->needs, name) && !value.find(name))
        return refuse(name, "the field is missing");
    }
    if (node.children.size() < shape->least_children || node.children.size() > shape->most_children)
      return refuse("children", "a node of kind '" + std::string(word) + "' has from " +
                                    std::to_string(shape->least_children) + " to " +
                                    std::to_string(shape->most_children) + " children");
    program_.nodes.push_back(std::move(node));
    return {};
  }

  base::Result<void> read_children(View field, Node& node) {
    const std::size_t own = program_.nodes.size();
    for (const View child : field.elements()) {
      const auto number = child.nat();
      if (!number || *number <= own || *number >= depth_.size())
        return refuse("children", "expected numbers of later nodes");
      if (depth_[*number] != 0) return refuse("children", "a node has two parents");
      depth_[*number] = depth_[own] + 1;
      if (depth_[*number] > kMaxDepth)
        return refuse("", "the flow is more than " + std::to_string(kMaxDepth) + " levels deep");
      node.children.push_back(static_cast<std::uint32_t>(*number));
    }
    return {};
  }

  base::Result<void> read_field(std::string_view name, View field, Node& node) {
    if (name == "value") {
      node.value = field.encoded();
      return {};
    }
    if (name == "ms" || name == "count") {
      const auto number = field.nat();
      const std::uint64_t most = name == "ms" ? kMaxMs : 1'000'000;
      if (!number || *number > most)
        return refuse(name, "expected a number from 0 to " + std::to_string(most));
      (name == "ms" ? node.ms : node.count) = *number;
      return {};
    }
    const auto text = field.text();
    if (!text || text->empty()) return refuse(name, "expected a text");
    if (name == "item" || (name == "name" && node.kind != NodeKind::kSignal)) {
      if (!is_name(*text))
        return refuse(name, "expected a name of letters, digits and '_', up to 63 bytes");
    }
    if (name == "text") node.text = *text;
    if (name == "name") node.name = *text;
    if (name == "zone") node.zone = *text;
    if (name == "item") node.item = *text;
    return {};
  }

  Program program_;
  std::vector<std::size_t> depth_;  // 0: nobody has named the node yet
};

}  // namespace

bool is_name(std::string_view text) noexcept {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || text.size() > kMaxNameBytes || !is_letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

base::Result<Program> read_program(View value) { return ProgramReader().read(value); }

}  // namespace holdfast::flows
