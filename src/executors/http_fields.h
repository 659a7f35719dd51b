// SPDX-License-Identifier: Apache-2.0
// What the header fields of requests and of responses have in common.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::executors {

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 10;  // of all of them

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

}  // namespace holdfast::executors
