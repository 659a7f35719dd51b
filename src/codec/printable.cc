// SPDX-License-Identifier: Apache-2.0
#include "codec/printable.h"

#include "codec/utf8.h"

namespace holdfast::codec {
namespace {

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool utf8 = is_utf8(text);
  std::string shown;
  const auto spell = [&](unsigned char byte) {
    shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    // U+0080 to U+009F are control characters too, and some terminals obey them.
    const bool lead = byte == 0xc2 && i + 1 < text.size();
    const bool control = lead && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !utf8) || control) {
      spell(byte);
      if (utf8 && control) spell(static_cast<unsigned char>(text[++i]));
    } else {
      shown += c;
    }
  }
  return shown;
}

std::size_t unshown_at(std::string_view text, std::size_t place) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return place + i < text.size() ? static_cast<unsigned char>(text[place + i]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  if (byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe) return 3;  // U+FFFE, U+FFFF
  return 0;
}

std::string printable_json(std::string_view json) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::size_t bytes = unshown_at(json, i);
    const bool is_line_end = json[i] == '\n';
    if (bytes == 0 || bytes == 3 || is_line_end) {
      shown += json[i];
      continue;
    }
    i += bytes - 1;
    const auto code = static_cast<unsigned char>(json[i]);  // its last byte is its number
    shown.append("\\u00") += kDigits[code >> 4];
    shown += kDigits[code & 15];
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
