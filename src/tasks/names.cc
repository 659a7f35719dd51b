// SPDX-License-Identifier: Apache-2.0
#include "tasks/names.h"

#include <algorithm>

#include "codec/utf8.h"
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

// Control characters, and all that is not ASCII in a text that is not UTF-8, by their bytes. Errors
// that stand in records have it: another form would be another record when they are replayed.
std::string spelled(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool utf8 = codec::is_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 = utf8 && byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    const bool is_control = byte < 0x20 || byte == 0x7f || is_c1;
    const std::size_t bytes = is_c1 ? 2 : is_control || (byte >= 0x80 && !utf8) ? 1 : 0;
    for (std::size_t each = i; each < i + bytes; ++each) {
      const auto one = static_cast<unsigned char>(text[each]);
      out += {'\\', 'x', kDigits[one >> 4], kDigits[one & 15]};
    }
    if (bytes == 0) out += text[i];
    if (is_c1) ++i;
  }
  return out;
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
  std::string_view shown = text.substr(0, kShown);
  // Not inside a character, or what is left would no longer be UTF-8.
  while (shown.size() < text.size() && !shown.empty() && kShown - shown.size() < 3 &&
         (static_cast<unsigned char>(text[shown.size()]) & 0xc0) == 0x80)
    shown.remove_suffix(1);
  return "'" + spelled(shown) + (shown.size() < text.size() ? "...'" : "'");
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
