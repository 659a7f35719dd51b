// SPDX-License-Identifier: Apache-2.0
// Bytes: the owned and the borrowed form in which byte strings travel through Holdfast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::base {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline ByteView as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline bool equal(ByteView a, ByteView b) noexcept { return as_text(a) == as_text(b); }

// Bytewise order; a prefix comes before what it is a prefix of.
inline int compare(ByteView a, ByteView b) noexcept { return as_text(a).compare(as_text(b)); }

}  // namespace holdfast::base
