// SPDX-License-Identifier: Apache-2.0
#include "codec/key_word.h"

#include <optional>

#include "codec/printable.h"

namespace holdfast::codec {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

// Of a character that cannot be shown, each byte has a code.
std::string folded(std::string_view key) {
  std::string word = "~";
  for (std::size_t i = 0; i < key.size();) {
    std::size_t coded = key[i] == '~' ? 1 : unshown_at(key, i);
    if (coded == 0) word += key[i++];
    for (; coded > 0; --coded, ++i) {
      const auto byte = static_cast<unsigned char>(key[i]);
      word += {'~', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return word;
}

bool is_shown(std::string_view key) {
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (unshown_at(key, i) != 0) return false;
  }
  return true;
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
    key += static_cast<char>(high << 4 | low);
    has_codes = true;
    i += 2;
  }
  if (!has_codes && !is_dots(key)) return std::nullopt;
  if (folded(key) != word) return std::nullopt;  // a code for what needs none
  return key;
}

}  // namespace

std::string word_of_key(std::string_view key) {
  if (!is_dots(key) && is_shown(key) && !unfolded(key)) return std::string(key);
  return folded(key);
}

std::string text_of_key(std::string_view word) {
  auto key = unfolded(word);
  return key ? std::move(*key) : std::string(word);
}

}  // namespace holdfast::codec
