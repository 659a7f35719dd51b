// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace holdfast::codec {

// Whether no byte is above 0x7f. Words may overlap, so that no byte is looked at alone.
inline bool is_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080u;
  const auto word = [](const char* at, auto bytes) {
    std::memcpy(&bytes, at, sizeof bytes);
    return bytes;
  };
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t bytes = 0;
  if (text.size() >= 8) {
    for (; end - at > 8; at += 8) bytes |= word(at, std::uint64_t{});
    bytes |= word(end - 8, std::uint64_t{});
  } else if (text.size() >= 4) {
    bytes = word(at, std::uint32_t{}) | word(end - 4, std::uint32_t{});
  } else if (!text.empty()) {
    bytes = static_cast<unsigned char>(at[0] | at[text.size() / 2] | at[text.size() - 1]);
  }
  return (bytes & kHighBits) == 0;
}

bool is_utf8(std::string_view text) noexcept;

// Appends one code point, which must be a scalar value (not a surrogate).
void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace holdfast::codec
