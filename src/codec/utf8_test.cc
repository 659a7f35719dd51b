// SPDX-License-Identifier: Apache-2.0
#include "codec/utf8.h"

#include <gtest/gtest.h>

namespace holdfast::codec {
namespace {

TEST(Utf8, every_scalar_value_is_written_validly) {
  for (std::uint32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
    if (code_point >= 0xd800 && code_point <= 0xdfff) continue;
    std::string text;
    append_utf8(text, code_point);
    ASSERT_TRUE(is_utf8(text)) << code_point;
    ASSERT_EQ(text.size(), code_point < 0x80      ? 1u
                           : code_point < 0x800   ? 2u
                           : code_point < 0x10000 ? 3u
                                                  : 4u);
  }
}

// Of all two-byte texts and all three-byte texts, as many are valid as there are ways to make them
// of code points: an error in a table would change the number.
TEST(Utf8, as_many_short_texts_are_valid_as_there_should_be) {
  std::size_t two = 0;
  std::size_t three = 0;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char text[] = {static_cast<char>(a), static_cast<char>(b)};
      if (is_utf8({text, 2})) ++two;
      for (int c = 0; c < 256; ++c) {
        const char longer[] = {static_cast<char>(a), static_cast<char>(b), static_cast<char>(c)};
        if (is_utf8({longer, 3})) ++three;
      }
    }
  }
  constexpr std::size_t kOne = 0x80;
  constexpr std::size_t kTwo = 0x800 - 0x80;
  constexpr std::size_t kThree = 0x10000 - 0x800 - 0x800;  // without the surrogates
  EXPECT_EQ(two, kOne * kOne + kTwo);
  EXPECT_EQ(three, kOne * kOne * kOne + 2 * kOne * kTwo + kThree);
}

TEST(Utf8, bad_sequences_are_refused_wherever_they_stand) {
  const std::string_view bad[] = {"\x80",
                                  "\xbf",
                                  "\xc0\x80",
                                  "\xc1\xbf",
                                  "\xc3",
                                  "\xc3(",
                                  "\xe0\x80\x80",
                                  "\xe0\x9f\xbf",
                                  "\xe2\x82",
                                  "\xe2(\xa1",
                                  "\xed\xa0\x80",
                                  "\xed\xbf\xbf",
                                  "\xf0\x80\x80\x80",
                                  "\xf0\x8f\xbf\xbf",
                                  "\xf0\x9f\x98",
                                  "\xf4\x90\x80\x80",
                                  "\xf5\x80\x80\x80",
                                  "\xf8\x88\x80\x80\x80",
                                  "\xfe",
                                  "\xff"};
  for (const std::string_view sequence : bad) {
    for (std::size_t before = 0; before < 20; ++before) {
      std::string text(before, 'a');
      text += sequence;
      EXPECT_FALSE(is_utf8(text));
      text += std::string(17, 'b');
      EXPECT_FALSE(is_utf8(text));
    }
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace holdfast::codec
