// SPDX-License-Identifier: Apache-2.0
// NameKey: a field name as two words and its size, which tell names of up to sixteen bytes apart
// completely; longer ones that agree in it still have to be compared. Looking a field up is done
// for every field of every event, and most names are short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::codec {

struct NameKey {
  static constexpr std::size_t kWholeNames = 16;

  std::uint64_t head = 0;  // the first bytes
  std::uint64_t tail = 0;  // the last ones; they overlap in a short name
  std::size_t size = 0;

  static NameKey of(std::string_view name) noexcept {
    const std::size_t size = name.size();
    NameKey key{0, 0, size};
    if (size >= 8) {
      std::memcpy(&key.head, name.data(), 8);
      std::memcpy(&key.tail, name.data() + size - 8, 8);
    } else if (size >= 4) {
      std::uint32_t half = 0;
      std::memcpy(&half, name.data(), 4);
      key.head = half;
      std::memcpy(&half, name.data() + size - 4, 4);
      key.tail = half;
    } else if (size > 0) {
      key.head = static_cast<unsigned char>(name[0]) |
                 std::uint64_t{static_cast<unsigned char>(name[size / 2])} << 8 |
                 std::uint64_t{static_cast<unsigned char>(name[size - 1])} << 16;
    }
    return key;
  }

  // Cheap, and the same everywhere. The author of a schema chooses its names and their number is
  // bounded, so it need not resist an attacker. The last byte of a product depends on the last
  // bytes of its factors only, the first one on all: turned round, it is what a small table uses.
  std::uint32_t hash() const noexcept {
    const std::uint64_t mixed = (head ^ (tail << 23 | tail >> 41) ^ size) * 0x9e3779b97f4a7c15u;
    return static_cast<std::uint32_t>(__builtin_bswap64(mixed));
  }

  friend bool operator==(const NameKey& a, const NameKey& b) noexcept {
    return ((a.head ^ b.head) | (a.tail ^ b.tail) | (a.size ^ b.size)) == 0;
  }
};

}  // namespace holdfast::codec
