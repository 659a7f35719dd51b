// SPDX-License-Identifier: Apache-2.0
// The scalars of the type system for which C++ has no type of its own, or several. All others are
// plain: bool, std::int64_t, std::uint64_t, double, std::string.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

using Bytes = std::vector<std::uint8_t>;

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::sys_time<Duration>;  // since 1970, UTC; what is after 2262 reads as max

// A SHA-256.
struct Hash {
  std::array<std::uint8_t, 32> bytes{};
  friend auto operator<=>(const Hash&, const Hash&) = default;
};

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

std::string to_text(const Hash& hash);  // sha256: and 64 hexadecimal digits
std::string to_text(const Uuid& uuid);  // 8-4-4-4-12 hexadecimal digits

}  // namespace holdfast
