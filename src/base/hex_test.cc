// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Hex, is_written_in_lower_case) {
  EXPECT_EQ(to_hex(Bytes{0x00, 0x1f, 0xab, 0xff}), "001fabff");
  EXPECT_EQ(to_hex({}), "");
}

TEST(Hex, is_read_in_either_case) {
  EXPECT_EQ(*from_hex("001fABfF"), (Bytes{0x00, 0x1f, 0xab, 0xff}));
  EXPECT_EQ(*from_hex(""), Bytes{});
}

TEST(Hex, odd_length_is_refused) { EXPECT_FALSE(from_hex("abc")); }

TEST(Hex, every_character_that_is_no_digit_is_refused_at_either_place) {
  const std::string_view digits = "0123456789abcdefABCDEF";
  for (int c = 0; c < 256; ++c) {
    const char character = static_cast<char>(c);
    const bool is_digit = digits.find(character) != std::string_view::npos;
    EXPECT_EQ(from_hex(std::string{character, '7'}).has_value(), is_digit) << c;
    EXPECT_EQ(from_hex(std::string{'7', character}).has_value(), is_digit) << c;
  }
}

TEST(Hex, decoding_into_memory_wants_the_exact_size) {
  std::uint8_t two[2] = {};
  EXPECT_TRUE(hex_decode("0102", two));
  EXPECT_EQ(two[1], 2);
  EXPECT_FALSE(hex_decode("01", two));
  EXPECT_FALSE(hex_decode("010203", two));
  EXPECT_FALSE(hex_decode("01020", two));
}

}  // namespace
}  // namespace holdfast::base
