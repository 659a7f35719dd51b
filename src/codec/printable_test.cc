// SPDX-License-Identifier: Apache-2.0
#include "codec/printable.h"

#include <gtest/gtest.h>

#include "codec/utf8.h"

namespace holdfast::codec {
namespace {

TEST(Printable, what_terminals_obey_is_spelled_out) {
  EXPECT_EQ(printable("plain \u00e4"), "plain \u00e4");
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\u007f");
  EXPECT_EQ(printable("\xc2\x9b[31m"), "\\u009b[31m");
  EXPECT_EQ(printable("\xff \xc3\xa4"), "\\xff \\xc3\\xa4") << "what is not UTF-8 is bytes";
}

TEST(Printable, long_text_is_cut_between_characters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 5), "abcde...");
  const std::string umlauts = "\u00e4\u00e4\u00e4";
  for (std::size_t most = 0; most <= 7; ++most) {
    const std::string shown = printable(umlauts, most);
    EXPECT_TRUE(is_utf8(shown)) << most;
    EXPECT_EQ(shown.find('\\'), std::string::npos) << most;
  }
  EXPECT_EQ(printable(umlauts, 3), "\u00e4...");
}

TEST(Printable, json_says_the_same_without_what_a_terminal_obeys) {
  EXPECT_EQ(printable_json("{\n  \"a\": \"\x7f \xc2\x9b \xc2\xa0 \xc3\xa4 \xef\xbf\xbf\"\n}"),
            "{\n  \"a\": \"\\u007f \\u009b \xc2\xa0 \xc3\xa4 \\uffff\"\n}");
}

TEST(Printable, what_turns_a_text_around_or_ends_its_line_is_spelled_out) {
  EXPECT_EQ(printable("a\u202egpj.exe \u2066x\u2069 \u2028 \u2029 \u202a\u202d"),
            "a\\u202egpj.exe \\u2066x\\u2069 \\u2028 \\u2029 \\u202a\\u202d");
  EXPECT_EQ(printable_json("\"\u202e \u2028\""), "\"\\u202e \\u2028\"");
  EXPECT_EQ(printable("\u2027 \u202f \u2065 \u206a \u200f"), "\u2027 \u202f \u2065 \u206a \u200f");
  EXPECT_EQ(printable("\"\u009b\u007f\""), "\"\\u009b\\u007f\"") << "JSON stays JSON";
}

TEST(Printable, what_cannot_be_shown_is_known_with_its_length) {
  EXPECT_EQ(unshown_at("a", 0), 0U);
  EXPECT_EQ(unshown_at("a\n", 1), 1U);
  EXPECT_EQ(unshown_at("\x7f", 0), 1U);
  EXPECT_EQ(unshown_at("\xc2\x80", 0), 2U);
  EXPECT_EQ(unshown_at("\xc2\xa0", 0), 0U);
  EXPECT_EQ(unshown_at("\u202e", 0), 3U);
  EXPECT_EQ(unshown_at("\xe2\x80", 0), 0U);
  EXPECT_EQ(unshown_at("\xef\xbf\xbd", 0), 0U);
  EXPECT_EQ(unshown_at("\xef\xbf\xbe", 0), 3U);
}

}  // namespace
}  // namespace holdfast::codec
