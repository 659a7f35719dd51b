// SPDX-License-Identifier: Apache-2.0
// The first bytes of every CBOR item (RFC 8949, section 3): three bits of major type, five bits
// that hold a small number or say how many bytes of number follow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace holdfast::codec {

static_assert(std::endian::native == std::endian::little);  // numbers are swapped

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

// `count` is 1, 2, 4 or 8, as numbers are: then it is a load and a swap.
inline std::uint64_t load_big_endian(const std::uint8_t* at, std::size_t count) noexcept {
  const auto load = [&](auto word) {
    std::memcpy(&word, at, sizeof word);
    return word;
  };
  switch (count) {
    case 1: return *at;
    case 2: return __builtin_bswap16(load(std::uint16_t{}));
    case 4: return __builtin_bswap32(load(std::uint32_t{}));
    default: return __builtin_bswap64(load(std::uint64_t{}));
  }
}

// The head of a number that does not stand in its first byte.
inline std::size_t put_long_head(std::uint8_t* at, Major major, std::uint64_t n) noexcept {
  const auto put = [&](int width, auto number) {
    at[0] = static_cast<std::uint8_t>(static_cast<int>(major) << 5 | (kOneByte + width));
    std::memcpy(at + 1, &number, sizeof number);
    return 1 + sizeof number;
  };
  if (n <= 0xff) return put(0, static_cast<std::uint8_t>(n));
  if (n <= 0xffff) return put(1, __builtin_bswap16(static_cast<std::uint16_t>(n)));
  if (n <= 0xffffffff) return put(2, __builtin_bswap32(static_cast<std::uint32_t>(n)));
  return put(3, __builtin_bswap64(n));
}

// Writes the shortest head to `at` (room for kMaxHeadBytes) and returns its size.
inline std::size_t put_head(std::uint8_t* at, Major major, std::uint64_t n) noexcept {
  if (n >= kOneByte) return put_long_head(at, major, n);
  at[0] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(major) << 5 | n);
  return 1;
}

}  // namespace holdfast::codec
