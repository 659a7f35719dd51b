// SPDX-License-Identifier: Apache-2.0
// Lists keep their order, sets are sorted without repetition, maps are sorted by their encoded
// keys.
#include <gtest/gtest.h>

#include <string>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::recode;
using testing::repeat;
using testing::schema_of;

struct SetOrMapCase {
  std::string_view type;
  std::string_view json;
  std::string_view expected;  // canonical bytes, or the error
};

TEST(NormaliserLists, keep_their_order_and_repetitions) {
  const SetOrMapCase cases[] = {
      {R"({"list":{"nat":{}}})", "[]", "80"},
      {R"({"list":{"nat":{}}})", "[3,1,3]", "83030103"},
      {R"({"list":{"list":{"nat":{}}}})", "[[],[1]]", "82808101"},
      {R"({"list":{"option":{"nat":{}}}})", "[null,1]", "82f601"},
      {R"({"list":{"nat":{}}})", "{}", "$: expected list, got map"},
      {R"({"list":{"nat":{}}})", "[1,null]", "$[1]: expected nat, got null"},
      {R"({"list":{"list":{"nat":{}}}})", "[[],[1,true]]", "$[1][1]: expected nat, got bool"},
  };
  for (const auto& [type, json, expected] : cases) EXPECT_EQ(encode(type, json), expected) << json;
}

TEST(NormaliserLists, heads_grow_with_the_number_of_elements) {
  const Schema list = schema_of(R"({"list":{"nat":{}}})");
  const Schema set = schema_of(R"({"set":{"nat":{}}})");
  for (const auto& [count, head] :
       {std::pair{23, "97"}, {24, "9818"}, {255, "98ff"}, {256, "990100"}, {65536, "9a00010000"}}) {
    std::string json;
    for (int i = count; i-- > 0;) json += (json.empty() ? "[" : ",") + std::to_string(i);
    const std::string listed = encode(list, json + "]");
    EXPECT_EQ(listed.substr(0, std::string_view(head).size()), head);
    const std::string sorted = encode(set, json + "]");
    EXPECT_EQ(sorted.substr(0, std::string_view(head).size() + 6), std::string(head) + "000102");
    EXPECT_EQ(sorted.size(), listed.size());
    EXPECT_EQ(recode(list, listed), listed);
    EXPECT_EQ(recode(set, listed), sorted);
  }
}

TEST(NormaliserSets, are_sorted_by_their_encodings_and_deduplicated) {
  const SetOrMapCase cases[] = {
      {R"({"set":{"nat":{}}})", "[]", "80"},
      {R"({"set":{"nat":{}}})", "[1,2,3]", "83010203"},
      {R"({"set":{"nat":{}}})", "[3,1,2,3,1]", "83010203"},
      {R"({"set":{"nat":{}}})", "[1,1]", "8101"},
      {R"({"set":{"int":{}}})", "[-1,1,-2,0]", "8400012021"},
      {R"({"set":{"text":{}}})", R"(["b","aa","a"])", "8361616162626161"},
      {R"({"set":{"dec128":{}}})", R"(["0.50",0.5,"5e-1"])", "8163302e35"},
      {R"({"set":{"set":{"nat":{}}}})", "[[2,1],[1,2],[1]]", "828101820102"},
      {R"({"set":{"option":{"nat":{}}}})", "[null,1,null]", "8201f6"},
      {R"({"set":{"any":{}}})", R"([1,1.0,{"b":1,"a":2},{"a":2,"b":1}])",
       "8301a2616102616201f93c00"},
      {R"({"set":{"nat":{}}})", "[1,2,-3]", "$[2]: expected nat, got negative int"},
      {R"({"set":{"nat":{}}})", "{}", "$: expected set (a list), got map"},
  };
  for (const auto& [type, json, expected] : cases) EXPECT_EQ(encode(type, json), expected) << json;
}

TEST(NormaliserMaps, are_sorted_by_their_encoded_keys) {
  const SetOrMapCase cases[] = {
      {R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})", "{}", "a0"},
      {R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})", R"({"bb":1,"c":2,"":3})",
       "a3600361630262626201"},
      {R"({"map":{"key":{"nat":{}},"value":{"nat":{}}}})", R"({"300":1,"24":2,"9":3})",
       "a3090318180219012c01"},
      {R"({"map":{"key":{"int":{}},"value":{"nat":{}}}})",
       R"({"-1":1,"0":2,"-9223372036854775808":3})", "a3000220013b7fffffffffffffff03"},
      {R"({"map":{"key":{"uuid":{}},"value":{"unit":{}}}})",
       R"({"00112233-4455-6677-8899-AABBCCDDEEFF":{}})",
       "a1782430303131323233332d343435352d363637372d383839392d616162626363646465656666f6"},
  };
  for (const auto& [type, json, expected] : cases) EXPECT_EQ(encode(type, json), expected) << json;
}

TEST(NormaliserMaps, refuse_keys_that_are_there_twice_or_do_not_fit) {
  constexpr std::string_view kText = R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})";
  constexpr std::string_view kInt = R"({"map":{"key":{"int":{}},"value":{"nat":{}}}})";
  constexpr std::string_view kNat = R"({"map":{"key":{"nat":{}},"value":{"nat":{}}}})";
  constexpr std::string_view kUuids = R"({"map":{"key":{"uuid":{}},"value":{"nat":{}}}})";
  constexpr std::string_view kHash = R"({"map":{"key":{"hash":{}},"value":{"nat":{}}}})";
  const SetOrMapCase cases[] = {
      {kText, "[]", "$: expected map, got list"},
      {kText, R"({"a":1,"b":2,"a":3})", "$.a: the key is there twice"},
      {kText, R"({"a":1,"b":2,"\u0061":3})", "$.a: the key is there twice"},
      {kText, R"({"a b":1,"a b":2})", R"($["a b"]: the key is there twice)"},
      {kText, R"({"a":1,"b":-2})", "$.b: expected nat, got negative int"},
      {kText, R"({"x y":null})", R"($["x y"]: expected nat, got null)"},
      {kInt, R"({"1":1,"x":2})", R"($: the key "x": expected a whole number)"},
      {kInt, R"({"01":1})", R"($: the key "01": expected a whole number)"},
      {kInt, R"({"+1":1})", R"($: the key "+1": expected a whole number)"},
      {kInt, R"({"-0":1})", R"($: the key "-0": expected a whole number)"},
      {kInt, R"({"--1":1})", R"($: the key "--1": expected a whole number)"},
      {kInt, R"({" 1":1})", R"($: the key " 1": expected a whole number)"},
      {kInt, R"({"1.0":1})", R"($: the key "1.0": expected a whole number)"},
      {kInt, R"({"":1})", R"($: the key "": expected a whole number)"},
      {kInt, R"({"-":1})", R"($: the key "-": expected a whole number)"},
      {kInt, R"({"9223372036854775808":1})",
       R"($: the key "9223372036854775808": out of range, which is -9223372036854775808 to 9223372036854775807)"},
      {kInt, R"({"-9223372036854775809":1})",
       R"($: the key "-9223372036854775809": out of range, which is -9223372036854775808 to 9223372036854775807)"},
      {kNat, R"({"18446744073709551616":1})",
       R"($: the key "18446744073709551616": out of range, which is 0 to 18446744073709551615)"},
      {kNat, R"({"-1":1})", R"($: the key "-1": out of range, which is 0 to 18446744073709551615)"},
      {kInt, R"({"5":true})", "$[5]: expected nat, got bool"},
      {kUuids,
       R"({"00112233-4455-6677-8899-AABBCCDDEEFF":1,"00112233-4455-6677-8899-aabbccddeeff":2})",
       "$.00112233-4455-6677-8899-aabbccddeeff: the key is there twice"},
      {kUuids, R"({"x":1})", R"($: the key "x": not a uuid (8-4-4-4-12 hexadecimal digits))"},
      {kHash, R"({"x":1})",
       R"($: the key "x": not a hash (sha256: and 64 lower-case hexadecimal digits))"},
  };
  for (const auto& [type, json, expected] : cases) EXPECT_EQ(encode(type, json), expected) << json;
}

TEST(NormaliserMaps, cbor_keys_may_be_numbers_or_their_text) {
  const Schema schema = schema_of(R"({"map":{"key":{"int":{}},"value":{"nat":{}}}})");
  EXPECT_EQ(recode(schema, "a22001181802"), "a21818022001");
  EXPECT_EQ(recode(schema, "a2622d3101180102"), "a201022001");
  EXPECT_EQ(recode(schema, "a20101613102"), "$[1]: the key is there twice");
  EXPECT_EQ(recode(schema, "a1f93c0001"), "$: expected int as key, got float");
  EXPECT_EQ(recode(schema, "a201028001"), "$: a map key must be a text or an integer (byte 4)");
  EXPECT_EQ(recode(R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})", "a20102616101"),
            "$: expected text as key, got nat");
}

TEST(NormaliserMaps, a_long_key_is_not_shown_in_the_path) {
  const std::string key = repeat("k", 1000);
  EXPECT_EQ(encode(R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})", "{\"" + key + "\":true}"),
            "$[a key of 1003 bytes]: expected nat, got bool");
}

}  // namespace
}  // namespace holdfast::codec
