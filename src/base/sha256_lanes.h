// SPDX-License-Identifier: Apache-2.0
// SHA-256 of two messages side by side, in the lanes of AVX2 registers: together they cost about
// what one costs alone. That is for processors without instructions for SHA-256; those are faster
// still. For base/sha256.cc, and for tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::base::sha256_lanes {

// Whether this processor can do it.
bool possible() noexcept;

// Whether it can, and has nothing better.
bool worthwhile() noexcept;

// Takes so many blocks of 64 bytes of each message into its state. Only where it is possible.
void take(std::uint32_t (&a)[8], std::uint32_t (&b)[8], const std::uint8_t* of_a,
          const std::uint8_t* of_b, std::size_t blocks) noexcept;

}  // namespace holdfast::base::sha256_lanes
