// SPDX-License-Identifier: Apache-2.0
#include "codec/printable.h"

#include "codec/utf8.h"

namespace holdfast::codec {
namespace {

constexpr std::string_view kSpellDigits = "0123456789abcdef";

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// As \uNNNN, which means the same inside a text of JSON. Of up to three bytes.
void spell(std::string& out, std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  unsigned code = byte(0);
  if (character.size() == 2) code = (code & 0x1fU) << 6 | (byte(1) & 0x3fU);
  if (character.size() == 3)
    code = (code & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kSpellDigits[code >> shift & 15U];
}

}  // namespace

std::size_t unshown_at(std::string_view text, std::size_t place) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return place + i < text.size() ? static_cast<unsigned char>(text[place + i]) : 0U;
  };
  const auto is_between = [](unsigned what, unsigned first, unsigned last) {
    return what >= first && what <= last;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && is_between(byte(1), 0x80, 0x9f)) return 2;
  if (byte(0) == 0xe2 && byte(1) == 0x80 && is_between(byte(2), 0xa8, 0xae)) return 3;
  if (byte(0) == 0xe2 && byte(1) == 0x81 && is_between(byte(2), 0xa6, 0xa9)) return 3;
  if (byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe) return 3;  // U+FFFE, U+FFFF
  return 0;
}

std::string printable(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = utf8 ? unshown_at(text, i) : 0;
    if (byte < 0x20 || (byte >= 0x7f && !utf8)) {
      shown += {'\\', 'x', kSpellDigits[byte >> 4], kSpellDigits[byte & 15]};
    } else if (bytes != 0) {
      spell(shown, text.substr(i, bytes));
      i += bytes - 1;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string printable_json(std::string_view json) {
  std::string shown;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::size_t bytes = unshown_at(json, i);
    if (bytes == 0 || json[i] == '\n') {
      shown += json[i];
      continue;
    }
    spell(shown, json.substr(i, bytes));
    i += bytes - 1;
  }
  return shown;
}

std::string printable(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  // Not inside a character, or what is left would no longer be UTF-8. One has four bytes at most.
  std::size_t end = most;
  while (end > 0 && most - end < 3 && continues_a_character(text[end])) --end;
  return printable(text.substr(0, end)) + "...";
}

}  // namespace holdfast::codec
