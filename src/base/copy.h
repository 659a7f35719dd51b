// SPDX-License-Identifier: Apache-2.0
// Copies bytes of which there are mostly few: names, numbers, hashes. For those a call of memcpy
// takes longer than the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace holdfast::base {

// The two places do not overlap. With no bytes to copy, they may be null.
[[gnu::always_inline]] inline void copy_bytes(std::uint8_t* to, const void* from,
                                              std::size_t size) noexcept {
  using Sixteen = std::uint64_t __attribute__((vector_size(16)));
  const auto* source = static_cast<const std::uint8_t*>(from);
  const auto copy = [&](std::size_t at, auto word) {
    std::memcpy(&word, source + at, sizeof word);
    std::memcpy(to + at, &word, sizeof word);
  };
  // The first and the last word, which may overlap.
  const auto ends = [&](auto word) {
    copy(0, word);
    copy(size - sizeof word, word);
  };
  if (size > 2 * sizeof(Sixteen)) {
// Where sanitizers keep it from following sizes, gcc takes this for possible with smaller ones.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
    std::memcpy(to, from, size);
#pragma GCC diagnostic pop
  } else if (size >= sizeof(Sixteen)) {
    ends(Sixteen{});
  } else if (size >= sizeof(std::uint64_t)) {
    ends(std::uint64_t{});
  } else if (size >= sizeof(std::uint32_t)) {
    ends(std::uint32_t{});
  } else if (size != 0) {
    to[0] = source[0];
    to[size / 2] = source[size / 2];
    to[size - 1] = source[size - 1];
  }
}

}  // namespace holdfast::base
