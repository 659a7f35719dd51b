// SPDX-License-Identifier: Apache-2.0
#include "codec/json_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;
using testing::repeat;

std::string json(std::string_view hex, JsonStyle style = JsonStyle::kCompact) {
  const base::Bytes bytes = bytes_of(hex);
  return to_json(View::of(bytes), style);
}

TEST(JsonWriter, writes_every_item) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"f6", "null"},
      {"f5", "true"},
      {"f4", "false"},
      {"00", "0"},
      {"20", "-1"},
      {"1bffffffffffffffff", "18446744073709551615"},
      {"3b7fffffffffffffff", "-9223372036854775808"},
      {"3bfffffffffffffffe", "-18446744073709551615"},
      {"3bffffffffffffffff", "-18446744073709551616"},
      {"f93c00", "1.0"},
      {"f98000", "-0.0"},
      {"fb3ff199999999999a", "1.1"},
      {"fb7e37e43c8800759c", "1e+300"},
      {"fb0000000000000001", "5e-324"},
      {"f97e00", R"("NaN")"},
      {"f97c00", R"("Infinity")"},
      {"f9fc00", R"("-Infinity")"},
      {"420102", R"({"$bytes":"AQI="})"},
      {"60", R"("")"},
      {"80", "[]"},
      {"a0", "{}"},
      {"82018102", "[1,[2]]"},
      {"a26161016162820203", R"({"a":1,"b":[2,3]})"},
      {"a2010220f6", R"({"1":2,"-1":null})"},
      {"f7", R"({"$simple":23})"},
      {"f8ff", R"({"$simple":255})"},
      {"c060", R"({"$tagged":[0,""]})"},
      {"c1820102", R"({"$tagged":[1,[1,2]]})"},
      {"a201026131f6", R"({"$map":[[1,2],["1",null]]})"},
      {"a181018102", R"({"$map":[[[1],[2]]]})"},
      {"a1f5f4", R"({"$map":[[true,false]]})"},
  };
  for (const auto& [hex, expected] : cases) EXPECT_EQ(json(hex), expected) << hex;
}

TEST(JsonWriter, escapes_what_json_must_not_hold) {
  EXPECT_EQ(json("6a225c2f08090a0c0d1f7f"), R"("\"\\/\u0008\t\n\u000c\r\u001f)"
                                            "\x7f\"");
  EXPECT_EQ(json("6100"), R"("\u0000")");
  EXPECT_EQ(json("63e282ac"), "\"\u20ac\"");
}

TEST(JsonWriter, indents_by_two_spaces_and_keeps_empty_ones_short) {
  EXPECT_EQ(json("a361618201806162806163a0", JsonStyle::kIndented),
            "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": [],\n  \"c\": {}\n}");
  EXPECT_EQ(json("01", JsonStyle::kIndented), "1");
}

TEST(JsonWriter, writes_values_of_every_allowed_depth) {
  EXPECT_EQ(json(repeat("81", 63) + "80"), repeat("[", 64) + repeat("]", 64));
  EXPECT_EQ(json(repeat("a16161", 63) + "a0"), repeat("{\"a\":", 63) + "{}" + repeat("}", 63));
}

TEST(JsonWriter, writes_documents_around_values_of_every_allowed_depth) {
  EXPECT_EQ(json(repeat("81", 127) + "80"), repeat("[", 128) + repeat("]", 128));
}

// The last key of each map shows that it is no object, when all inside it has been written.
TEST(JsonWriter, maps_that_turn_out_to_be_no_objects_do_not_multiply_the_work) {
  EXPECT_EQ(json(repeat("a26161", 60) + "80" + repeat("8101f6", 60)),
            repeat("{\"$map\":[[\"a\",", 60) + "[]" + repeat("],[[1],null]]}", 60));
}

TEST(JsonPieces, come_to_the_same_as_all_at_once) {
  Buffer long_ones;
  write_list_head(long_ones, 3);
  write_text(long_ones, std::string(200'000, '\x01') + "\u20ac");
  write_bytes(long_ones, base::Bytes(100'001, 7));
  write_text(long_ones, repeat("\u20ac", 50'000));
  std::vector<base::Bytes> values{long_ones.to_bytes()};
  for (const std::string& hex : {std::string("00"), std::string("60"), std::string("40"),
                                 std::string("80"), std::string("a26161016162820203"),
                                 "82" + repeat("a26161", 60) + "80" + repeat("8101f6", 60) + "01",
                                 "98c8" + repeat("a201026131f6", 200)})
    values.push_back(bytes_of(hex));
  for (const base::Bytes& value : values) {
    const std::string whole = to_json(View::of(value));
    for (const std::size_t about : {std::size_t{1}, std::size_t{100}, std::size_t{65'536}}) {
      JsonPieces pieces(View::of(value));
      EXPECT_EQ(pieces.size(), whole.size());
      std::string all;
      Buffer piece;
      for (bool has_more = true; has_more;) {
        has_more = pieces.next(piece, about);
        all += base::as_text(piece.view());
        EXPECT_LE(piece.size(), about + 6 * 49'152 + 100) << "however long a text is";
      }
      EXPECT_EQ(all == whole, true) << whole.substr(0, 100);
    }
  }
}

}  // namespace
}  // namespace holdfast::codec
