// SPDX-License-Identifier: Apache-2.0
#include "codec/float_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/hex.h"
#include "codec/cbor_writer.h"

namespace holdfast::codec {
namespace {

std::string written(double value) {
  Buffer out;
  write_float(out, value);
  return base::to_hex(out.view());
}

TEST(FloatBits, every_half_becomes_a_double_and_comes_back) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = half_to_double(half);
    const bool nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
    ASSERT_EQ(std::isnan(value), nan) << bits;
    if (nan) continue;
    ASSERT_EQ(double_to_half(value), half) << bits;
  }
}

TEST(FloatBits, halves_have_the_values_of_the_standard) {
  const std::pair<std::uint16_t, double> cases[] = {
      {0x0000, 0.0},        {0x0001, 0x1p-24},    {0x03ff, 0x3ffp-24}, {0x0400, 0x1p-14},
      {0x3555, 0x1.554p-2}, {0x3bff, 0x1.ffcp-1}, {0x3c00, 1.0},       {0x3c01, 0x1.004p0},
      {0xc000, -2.0},       {0x7bff, 65504.0},    {0x7c00, INFINITY},  {0xfc00, -INFINITY}};
  for (const auto& [half, value] : cases) EXPECT_EQ(half_to_double(half), value) << half;
  EXPECT_TRUE(std::signbit(half_to_double(0x8000)));
}

TEST(FloatBits, a_double_between_two_halves_is_none) {
  for (const double value :
       {0x1p-25, 0x1.8p-24, 0x1.001p0, 65504.5, 65505.0, 65536.0, 1e300, 0.1, 5e-324}) {
    EXPECT_FALSE(double_to_half(value)) << value;
    EXPECT_FALSE(double_to_half(-value)) << value;
  }
}

TEST(FloatBits, the_shortest_form_that_keeps_the_value_is_written) {
  const std::pair<double, std::string_view> cases[] = {
      {0.0, "f90000"},
      {-0.0, "f98000"},
      {1.5, "f93e00"},
      {65504.0, "f97bff"},
      {65505.0, "fa477fe100"},
      {0x1p-24, "f90001"},
      {0x1p-25, "fa33000000"},
      {0x1p-149, "fa00000001"},
      {0x1p-150, "fb3690000000000000"},
      {0x1.fffffep127, "fa7f7fffff"},
      {0x1.ffffffp127, "fb47effffff0000000"},
      {0x1p128, "fb47f0000000000000"},
      {1.1, "fb3ff199999999999a"},
      {5e-324, "fb0000000000000001"},
      {std::numeric_limits<double>::max(), "fb7fefffffffffffff"},
      {INFINITY, "f97c00"},
      {-INFINITY, "f9fc00"},
  };
  for (const auto& [value, hex] : cases) EXPECT_EQ(written(value), hex) << value;
}

TEST(FloatBits, every_nan_is_the_same_nan) {
  for (const std::uint64_t bits : {0x7ff8000000000000u, 0xfff8000000000000u, 0x7ff0000000000001u,
                                   0x7fffffffffffffffu, 0xfff4000000000000u}) {
    EXPECT_EQ(written(std::bit_cast<double>(std::uint64_t{bits})), "f97e00");
  }
}

TEST(FloatBits, a_negative_integer_is_rounded_once) {
  EXPECT_EQ(negative_to_double(0), -1.0);
  EXPECT_EQ(negative_to_double(~std::uint64_t{0}), -0x1p64);
  EXPECT_EQ(negative_to_double(~std::uint64_t{0} - 1), -0x1p64);
  EXPECT_EQ(negative_to_double((std::uint64_t{1} << 54) + 5), -0x1p54 - 8);
}

}  // namespace
}  // namespace holdfast::codec
