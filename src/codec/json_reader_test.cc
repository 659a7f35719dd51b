// SPDX-License-Identifier: Apache-2.0
// The syntax of JSON, seen through `any`; every error names line and column.
#include "codec/json_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;

struct JsonCase {
  std::string json;
  std::string expected;  // canonical bytes, or the error
};

void expect_all_json(const std::vector<JsonCase>& cases) {
  for (const auto& [json, expected] : cases)
    EXPECT_EQ(encode(Schema::any(), json), expected) << json;
}

TEST(JsonReader, white_space_may_stand_between_tokens) {
  expect_all_json({{" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n2 \t\r\n} ] \t\r\n",
                    "8201a1616102"},
                   {"\f1", "$: unexpected character (line 1, column 1)"},
                   {"\xc2\xa0"
                    "1",
                    "$: unexpected character (line 1, column 1)"},
                   {"\xef\xbb\xbf"
                    "1",
                    "$: unexpected character (line 1, column 1)"}});
}

TEST(JsonReader, errors_name_line_and_column) {
  expect_all_json({
      {"", "$: the text ends where a value should be (line 1, column 1)"},
      {" \n ", "$: the text ends where a value should be (line 2, column 2)"},
      {"[1,\n 2,\n x]", "$[2]: unexpected character (line 3, column 2)"},
      {"{\"a\":\n  [1 2]}", "$.a[0]: expected ',' or ']' (line 2, column 6)"},
      {"{\"a\":1 \"b\":2}", "$: expected ',' or '}' (line 1, column 8)"},
      {"[1", "$[0]: the text ends inside a list (line 1, column 3)"},
      {"[1,", "$[1]: the text ends where a value should be (line 1, column 4)"},
      {"{", "$: the text ends inside a map (line 1, column 2)"},
      {"{\"a\"", "$: expected ':' after a key (line 1, column 5)"},
      {"{\"a\" 1}", "$: expected ':' after a key (line 1, column 6)"},
      {"{\"a\":", "$.a: the text ends where a value should be (line 1, column 6)"},
      {"{\"a\":1,}", "$: expected a quoted key (line 1, column 8)"},
      {"{a:1}", "$: expected a quoted key (line 1, column 2)"},
      {"{1:1}", "$: expected a quoted key (line 1, column 2)"},
      {"{,}", "$: expected a quoted key (line 1, column 2)"},
      {"[1,]", "$[1]: unexpected character (line 1, column 4)"},
      {"[,]", "$[0]: unexpected character (line 1, column 2)"},
      {"[1}", "$[0]: expected ',' or ']' (line 1, column 3)"},
      {"{\"a\":1]", "$: expected ',' or '}' (line 1, column 7)"},
      {"]", "$: unexpected character (line 1, column 1)"},
      {"1 2", "$: unexpected text after the value (line 1, column 3)"},
      {"{}\n}", "$: unexpected text after the value (line 2, column 1)"},
      {"nul", "$: unexpected character (line 1, column 1)"},
      {"True", "$: unexpected character (line 1, column 1)"},
      {"truex", "$: unexpected text after the value (line 1, column 5)"},
      {"NaN", "$: unexpected character (line 1, column 1)"},
      {"'a'", "$: unexpected character (line 1, column 1)"},
      {"/**/1", "$: unexpected character (line 1, column 1)"},
  });
}

TEST(JsonReader, numbers_are_those_of_the_standard) {
  expect_all_json({
      {"0", "00"},
      {"-0", "00"},
      {"0.5", "f93800"},
      {"1E2", "f95640"},
      {"1e+2", "f95640"},
      {"1e-1", "fb3fb999999999999a"},
      {"-", "$: expected a digit after '-' (line 1, column 2)"},
      {"--1", "$: expected a digit after '-' (line 1, column 2)"},
      {"+1", "$: unexpected character (line 1, column 1)"},
      {"01", "$: a number may not begin with a zero (line 1, column 1)"},
      {"-01", "$: a number may not begin with a zero (line 1, column 1)"},
      {"1.", "$: expected a digit after '.' (line 1, column 3)"},
      {".5", "$: unexpected character (line 1, column 1)"},
      {"1.e5", "$: expected a digit after '.' (line 1, column 3)"},
      {"1e", "$: expected a digit in the exponent (line 1, column 3)"},
      {"1e+", "$: expected a digit in the exponent (line 1, column 4)"},
      {"0x10", "$: unexpected text after the value (line 1, column 2)"},
      {"1_000", "$: unexpected text after the value (line 1, column 2)"},
  });
}

TEST(JsonReader, strings_hold_escapes_and_valid_utf8) {
  expect_all_json({
      {R"("\"\\\/\b\f\n\r\t")", "68225c2f080c0a0d09"},
      {R"("\u0041\u00DF\u20ac")", "6641c39fe282ac"},
      {R"("\ud83d\ude00")", "64f09f9880"},
      {R"("\uDBFF\uDFFF")", "64f48fbfbf"},
      {"\"\xf0\x9f\x98\x80\"", "64f09f9880"},
      {"\"\x7f\"", "617f"},
      {R"("a)", "$: the text ends inside a string (line 1, column 3)"},
      {R"("a\)", "$: the text ends inside a string (line 1, column 4)"},
      {R"("\u12)", "$: the text ends inside a string (line 1, column 4)"},
      {R"("\u12g4")", R"($: expected four hexadecimal digits after \u (line 1, column 6))"},
      {R"("\x41")", "$: unknown escape in a string (line 1, column 3)"},
      {R"("\ud800")", "$: half of a surrogate pair in a string (line 1, column 8)"},
      {R"("\ud800x")", "$: half of a surrogate pair in a string (line 1, column 8)"},
      {R"("\ud800\n")", "$: half of a surrogate pair in a string (line 1, column 8)"},
      {R"("\ud800\u0041")", "$: half of a surrogate pair in a string (line 1, column 14)"},
      {R"("\ud800\ud800")", "$: half of a surrogate pair in a string (line 1, column 14)"},
      {R"("\udc00")", "$: half of a surrogate pair in a string (line 1, column 8)"},
      {"\"a\nb\"", "$: a control character inside a string must be escaped (line 1, column 3)"},
      {std::string("\"\0\"", 3),
       "$: a control character inside a string must be escaped (line 1, column 2)"},
      {"\"\x1f\"", "$: a control character inside a string must be escaped (line 1, column 2)"},
      {"\"\xff\"", "$: a string is not valid UTF-8 (line 1, column 3)"},
      {"\"\xc3\"", "$: a string is not valid UTF-8 (line 1, column 3)"},
      {"\"\xed\xa0\x80\"", "$: a string is not valid UTF-8 (line 1, column 5)"},
      {"{\"\xff\":1}", "$: a string is not valid UTF-8 (line 1, column 4)"},
      {"\"\xc3\\u0041\xa9\"", "$: a string is not valid UTF-8 (line 1, column 10)"},
  });
}

// The scanner takes sixteen bytes at a time: whatever stops it must be seen at every place.
TEST(JsonReader, a_stop_is_seen_at_every_offset_of_a_string) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (std::size_t after : {0u, 1u, 15u, 16u, 40u}) {
      const std::string head(before, 'a');
      const std::string tail(after, 'b');
      const auto column = std::to_string(before + 2);
      EXPECT_EQ(encode(Schema::any(), '"' + head + "\\n" + tail + '"'),
                encode(Schema::any(), '"' + head + "\\u000a" + tail + '"'));
      EXPECT_EQ(
          encode(Schema::any(), '"' + head + '\x01' + tail + '"'),
          "$: a control character inside a string must be escaped (line 1, column " + column + ")");
      EXPECT_EQ(encode(Schema::any(), '"' + head + '\x80' + tail + '"').substr(0, 32),
                "$: a string is not valid UTF-8 (");
      EXPECT_EQ(encode(Schema::any(), '"' + head + "\"" + tail + "x").substr(0, 24),
                "$: unexpected text after");
    }
  }
}

TEST(JsonReader, a_mark_is_a_place_to_come_back_to) {
  JsonReader reader("[1,2]");
  Item item;
  Cursor cursor;
  ASSERT_TRUE(reader.value(item, cursor));
  ASSERT_EQ(reader.more(cursor), More::kYes);
  const auto mark = reader.mark();
  ASSERT_TRUE(reader.value(item, cursor));
  EXPECT_EQ(item.number, 1u);
  reader.rewind(mark);
  ASSERT_TRUE(reader.value(item, cursor));
  EXPECT_EQ(item.number, 1u);
}

}  // namespace
}  // namespace holdfast::codec
