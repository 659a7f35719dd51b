// SPDX-License-Identifier: Apache-2.0
// Text into a buffer.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "codec/buffer.h"

namespace holdfast::gateway {

inline void append(codec::Buffer& out, std::string_view text) {
  out.append(text.data(), text.size());
}

inline void append(codec::Buffer& out, std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace holdfast::gateway
