// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes in the form 8-4-4-4-12 that PostgreSQL and people know.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/hex.h"

namespace holdfast::postgres {

inline std::string uuid_text(const std::array<std::uint8_t, 16>& bytes) {
  std::string text = base::to_hex(bytes);
  for (const std::size_t place : {8u, 13u, 18u, 23u}) text.insert(place, 1, '-');
  return text;
}

}  // namespace holdfast::postgres
