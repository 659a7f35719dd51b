// SPDX-License-Identifier: Apache-2.0
#include "tasks/names.h"

#include <algorithm>

#include "codec/printable.h"
#include "tasks/limits.h"

namespace holdfast::tasks {
namespace {

bool is_word_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_made_of(std::string_view text, std::string_view marks) noexcept {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_word_letter(c) || marks.find(c) != std::string_view::npos;
  });
}

std::optional<std::string> length_problem(std::string_view text) {
  if (text.empty()) return "the name is empty";
  if (text.size() > kMaxNameBytes)
    return "the name has more than " + std::to_string(kMaxNameBytes) + " bytes";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> name_problem(std::string_view name) {
  if (auto problem = length_problem(name)) return problem;
  if (!is_word_letter(name.front()) || !is_made_of(name, "-"))
    return quote(name) +
           " is not a name: use letters, digits, '_' and '-', and do not begin with '-'";
  if (name == kElementNode)
    return "'foreach' is reserved: in references it stands for the element of a foreach";
  return std::nullopt;
}

std::optional<std::string> label_problem(std::string_view label) {
  if (auto problem = length_problem(label)) return problem;
  if (!is_word_letter(label.front()) || !is_made_of(label, "-./:@"))
    return quote(label) + " is not a name: use letters, digits and '_-./:@'";
  return std::nullopt;
}

std::string default_name(std::string_view kind, std::size_t position) {
  return std::string(kind) + "-" + std::to_string(position + 1);
}

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 64;
  return "'" + codec::printable(text, kShown) + "'";
}

std::optional<NodeIndex> NameTable::add(std::string_view name, NodeIndex node) {
  const auto [at, is_new] = nodes_.emplace(name, node);
  if (is_new) return std::nullopt;
  return at->second;
}

std::optional<NodeIndex> NameTable::find(std::string_view name) const {
  const auto at = nodes_.find(name);
  if (at == nodes_.end()) return std::nullopt;
  return at->second;
}

}  // namespace holdfast::tasks
