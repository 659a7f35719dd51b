// SPDX-License-Identifier: Apache-2.0
// A hash for looking up field names: cheap, and the same everywhere. Names in a schema are chosen
// by its author and their number is bounded, so it need not resist an attacker.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::codec {

inline std::uint32_t name_hash(std::string_view name) noexcept {
  const std::size_t size = name.size();
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  if (size >= 8) {
    std::memcpy(&head, name.data(), 8);
    std::memcpy(&tail, name.data() + size - 8, 8);
  } else if (size >= 4) {
    std::uint32_t half = 0;
    std::memcpy(&half, name.data(), 4);
    head = half;
    std::memcpy(&half, name.data() + size - 4, 4);
    tail = half;
  } else if (size > 0) {
    head = static_cast<unsigned char>(name[0]) |
           std::uint64_t{static_cast<unsigned char>(name[size / 2])} << 8 |
           std::uint64_t{static_cast<unsigned char>(name[size - 1])} << 16;
  }
  const std::uint64_t mixed = (head ^ (tail << 23 | tail >> 41) ^ size) * 0x9e3779b97f4a7c15u;
  return static_cast<std::uint32_t>(mixed >> 32);
}

}  // namespace holdfast::codec
