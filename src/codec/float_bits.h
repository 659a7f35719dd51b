// SPDX-License-Identifier: Apache-2.0
// Half, single and double precision (IEEE 754) as CBOR stores them.
#pragma once

#include <cstdint>
#include <optional>

namespace holdfast::codec {

double half_to_double(std::uint16_t half) noexcept;

// -1 - n, rounded once: adding after n has been rounded would round twice.
inline double negative_to_double(std::uint64_t n) noexcept {
  return n == ~std::uint64_t{0} ? -0x1p64 : -static_cast<double>(n + 1);
}

// The half that is exactly `value`, if there is one. Not for NaN.
std::optional<std::uint16_t> double_to_half(double value) noexcept;

}  // namespace holdfast::codec
