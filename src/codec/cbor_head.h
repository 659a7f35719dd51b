// SPDX-License-Identifier: Apache-2.0
// The first bytes of every CBOR item (RFC 8949, section 3): three bits of major type, five bits
// that hold a small number or say how many bytes of number follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace holdfast::codec {

enum class Major : std::uint8_t {
  kNat = 0,       // 0 .. 2^64-1
  kNegative = 1,  // -1 - n
  kBytes = 2,
  kText = 3,
  kList = 4,
  kMap = 5,
  kTag = 6,
  kSimple = 7,  // false, true, null, floats
};

inline constexpr std::uint8_t kFalseByte = 0xf4;
inline constexpr std::uint8_t kTrueByte = 0xf5;
inline constexpr std::uint8_t kNullByte = 0xf6;
inline constexpr std::uint8_t kHalfByte = 0xf9;
inline constexpr std::uint8_t kSingleByte = 0xfa;
inline constexpr std::uint8_t kDoubleByte = 0xfb;
inline constexpr std::uint8_t kBreakByte = 0xff;

// Tag 55799: stands before every value that is hashed, journaled or stored on its own.
inline constexpr std::uint8_t kSelfDescribe[3] = {0xd9, 0xd9, 0xf7};

// The additional information (low five bits) that announces 1, 2, 4 or 8 bytes of number.
inline constexpr std::uint8_t kOneByte = 24;
inline constexpr std::uint8_t kEightBytes = 27;
inline constexpr std::uint8_t kIndefinite = 31;

inline constexpr std::size_t kMaxHeadBytes = 9;

inline constexpr std::size_t head_size(std::uint64_t n) noexcept {
  return n < kOneByte ? 1 : n <= 0xff ? 2 : n <= 0xffff ? 3 : n <= 0xffffffff ? 5 : 9;
}

inline void store_big_endian(std::uint8_t* at, std::uint64_t n, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    at[i] = static_cast<std::uint8_t>(n >> (8 * (count - 1 - i)));
}

inline std::uint64_t load_big_endian(const std::uint8_t* at, std::size_t count) noexcept {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < count; ++i) n = n << 8 | at[i];
  return n;
}

// Writes the shortest head to `at` (room for kMaxHeadBytes) and returns its size.
inline std::size_t put_head(std::uint8_t* at, Major major, std::uint64_t n) noexcept {
  const auto type = static_cast<std::uint8_t>(static_cast<std::uint8_t>(major) << 5);
  if (n < kOneByte) {
    at[0] = static_cast<std::uint8_t>(type | n);
    return 1;
  }
  const std::size_t size = head_size(n);
  const std::uint8_t width = size == 2 ? 0 : size == 3 ? 1 : size == 5 ? 2 : 3;
  at[0] = static_cast<std::uint8_t>(type | (kOneByte + width));
  store_big_endian(at + 1, n, size - 1);
  return size;
}

}  // namespace holdfast::codec
