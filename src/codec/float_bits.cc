// SPDX-License-Identifier: Apache-2.0
#include "codec/float_bits.h"

#include <bit>
#include <cmath>
#include <limits>

#include "codec/cbor_writer.h"

namespace holdfast::codec {

double half_to_double(std::uint16_t half) noexcept {
  const std::uint64_t sign = std::uint64_t{half & 0x8000u} << 48;
  const std::uint64_t exponent = (half >> 10) & 0x1f;
  const std::uint64_t fraction = half & 0x3ff;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24, exact in a double
    const double magnitude = static_cast<double>(fraction) * 0x1p-24;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint64_t widened = exponent == 31 ? 0x7ff : exponent - 15 + 1023;
  return std::bit_cast<double>(sign | widened << 52 | fraction << 42);
}

std::optional<std::uint16_t> double_to_half(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 48 & 0x8000;
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == -1023 && fraction == 0) return static_cast<std::uint16_t>(sign);
  if (exponent == 1024 && fraction == 0) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (exponent < -24 || exponent > 15) return std::nullopt;
  // Ten bits of fraction are kept; a subnormal half loses one more for each step below 2^-14.
  const bool subnormal = exponent < -14;
  const int dropped = subnormal ? 42 - 14 - exponent : 42;
  const std::uint64_t significand = subnormal ? fraction | std::uint64_t{1} << 52 : fraction;
  if ((significand & ((std::uint64_t{1} << dropped) - 1)) != 0) return std::nullopt;
  const std::uint64_t biased = subnormal ? 0 : static_cast<std::uint64_t>(exponent + 15);
  return static_cast<std::uint16_t>(sign | biased << 10 | significand >> dropped);
}

void write_float(Buffer& out, double value) {
  std::uint8_t* at = out.room(kMaxHeadBytes);
  if (std::isnan(value)) {
    at[0] = kHalfByte;
    store_big_endian(at + 1, 0x7e00, 2);
    return out.advance(3);
  }
  if (const auto half = double_to_half(value)) {
    at[0] = kHalfByte;
    store_big_endian(at + 1, *half, 2);
    return out.advance(3);
  }
  // Outside this range the conversion to float is not defined; inside it rounds, which is seen.
  if (std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max())) {
    const auto single = static_cast<float>(value);
    if (static_cast<double>(single) == value) {
      at[0] = kSingleByte;
      store_big_endian(at + 1, std::bit_cast<std::uint32_t>(single), 4);
      return out.advance(5);
    }
  }
  at[0] = kDoubleByte;
  store_big_endian(at + 1, std::bit_cast<std::uint64_t>(value), 8);
  out.advance(9);
}

}  // namespace holdfast::codec
