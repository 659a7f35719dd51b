// SPDX-License-Identifier: Apache-2.0
#include "codec/utf8.h"

#include <cstring>

namespace holdfast::codec {
namespace {

bool is_continuation(unsigned char byte) noexcept { return (byte & 0xc0) == 0x80; }

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    if (end - at >= 8) {
      std::uint64_t eight;
      std::memcpy(&eight, at, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const unsigned char lead = *at;
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const auto left = static_cast<std::size_t>(end - at);
    if (lead >= 0xc2 && lead <= 0xdf) {
      if (left < 2 || !is_continuation(at[1])) return false;
      at += 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      if (left < 3 || !is_continuation(at[1]) || !is_continuation(at[2])) return false;
      if (lead == 0xe0 && at[1] < 0xa0) return false;  // overlong
      if (lead == 0xed && at[1] > 0x9f) return false;  // surrogate
      at += 3;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      if (left < 4 || !is_continuation(at[1]) || !is_continuation(at[2]) ||
          !is_continuation(at[3])) {
        return false;
      }
      if (lead == 0xf0 && at[1] < 0x90) return false;  // overlong
      if (lead == 0xf4 && at[1] > 0x8f) return false;  // above U+10FFFF
      at += 4;
    } else {
      return false;
    }
  }
  return true;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3f)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xc0 | (code_point >> 6)));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | (code_point >> 12)));
    tail(6), tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0 | (code_point >> 18)));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace holdfast::codec
