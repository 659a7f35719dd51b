// SPDX-License-Identifier: Apache-2.0
#include "codec/key_word.h"

#include <algorithm>
#include <optional>

namespace holdfast::codec {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool is_dots(std::string_view text) { return text.empty() || text == "." || text == ".."; }

// What a word behind '~' stands for; nothing: it is not of that form, and stands for itself.
std::optional<std::string> unfolded(std::string_view word) {
  if (!word.starts_with('~')) return std::nullopt;
  std::string key;
  bool has_codes = false;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] != '~') {
      key += word[i];
      continue;
    }
    const std::size_t high = i + 1 < word.size() ? kDigits.find(word[i + 1]) : kDigits.npos;
    const std::size_t low = i + 2 < word.size() ? kDigits.find(word[i + 2]) : kDigits.npos;
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    const char c = static_cast<char>(high << 4 | low);
    if (c != '~' && !is_control(c)) return std::nullopt;
    key += c;
    has_codes = true;
    i += 2;
  }
  if (!has_codes && !is_dots(key)) return std::nullopt;
  return key;
}

}  // namespace

std::string word_of_key(std::string_view key) {
  if (!is_dots(key) && std::ranges::none_of(key, is_control) && !unfolded(key))
    return std::string(key);
  std::string word = "~";
  for (const char c : key) {
    if (c == '~' || is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      word += {'~', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      word += c;
    }
  }
  return word;
}

std::string text_of_key(std::string_view word) {
  auto key = unfolded(word);
  return key ? std::move(*key) : std::string(word);
}

}  // namespace holdfast::codec
