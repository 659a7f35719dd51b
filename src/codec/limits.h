// SPDX-License-Identifier: Apache-2.0
// The limits that hold for every value, wherever it comes from. They are constants, not settings:
// a value that one node accepts must be accepted by every node that replays it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::codec {

// Containers inside containers, counting the outermost one.
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr const char* kTooDeep = "nested deeper than 64";

// Bytes of one value, as it comes in and as it is encoded. Offsets inside a value fit 32 bits.
inline constexpr std::size_t kMaxValueBytes = std::size_t{16} << 20;

// Scalars, containers and map keys of one value, as it is encoded: what is written for absent
// fields and for sugar counts, so that this bounds the work too.
inline constexpr std::size_t kMaxItems = std::size_t{4} << 20;

}  // namespace holdfast::codec
