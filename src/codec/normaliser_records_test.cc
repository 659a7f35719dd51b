// SPDX-License-Identifier: Apache-2.0
// Records: every declared field is there once, nothing else is; absent options become null.
#include <gtest/gtest.h>

#include <string>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::recode;
using testing::schema_of;
using testing::Types;

const Schema& order() {
  static const Schema schema = schema_of(
      R"({"record":{"b":{"int":{}},"aa":{"text":{}},"c":{"option":{"bool":{}}},
                    "in":{"option":{"record":{"x":{"option":{"nat":{}}},"y":{"nat":{}}}}}}})");
  return schema;
}

TEST(NormaliserRecords, fields_are_sorted_by_their_encoded_names) {
  const std::string canonical = "a46162206163f5626161617862696ea26178f6617907";
  for (const std::string_view json : {
           R"({"b":-1,"c":true,"aa":"x","in":{"x":null,"y":7}})",
           R"({"in":{"y":7},"aa":"x","c":true,"b":-1})",
           R"({"aa":"x","in":{"y":7,"x":null},"b":-1,"c":true})",
           R"({"\u0062":-1,"c":true,"a\u0061":"x","in":{"x":null,"y":7}})",
       }) {
    EXPECT_EQ(encode(order(), json), canonical) << json;
  }
}

TEST(NormaliserRecords, an_absent_option_becomes_null) {
  const std::string canonical = "a46162006163f6626161617862696ef6";
  EXPECT_EQ(encode(order(), R"({"b":0,"aa":"x"})"), canonical);
  EXPECT_EQ(encode(order(), R"({"b":0,"aa":"x","c":null})"), canonical);
  EXPECT_EQ(encode(order(), R"({"in":null,"aa":"x","b":0,"c":null})"), canonical);
  EXPECT_EQ(recode(order(), "a26261616178616200"), canonical);
}

TEST(NormaliserRecords, an_option_behind_a_reference_may_be_absent_too) {
  const Schema schema = schema_of(R"({"record":{"a":{"ref":"t/Maybe@1"}}})",
                                  Types{{"t/Maybe@1", R"({"option":{"nat":{}}})"}});
  EXPECT_EQ(encode(schema, "{}"), "a16161f6");
  EXPECT_EQ(encode(schema, R"({"a":5})"), "a1616105");
}

TEST(NormaliserRecords, a_record_without_fields_is_an_empty_map) {
  const Schema schema = schema_of(R"({"record":{}})");
  EXPECT_EQ(encode(schema, "{}"), "a0");
  EXPECT_EQ(recode(schema, "bfff"), "a0");
  EXPECT_EQ(encode(schema, R"({"a":1})"), "$: unknown field \"a\"");
}

TEST(NormaliserRecords, what_does_not_fit_is_refused_with_its_path) {
  struct Case {
    std::string_view json;
    std::string_view error;
  };
  const Case cases[] = {
      {R"([])", "$: expected record (a map), got list"},
      {R"("x")", "$: expected record (a map), got text"},
      {R"({})", "$: the field 'b' is missing"},
      {R"({"b":1})", "$: the field 'aa' is missing"},
      {R"({"b":1,"aa":"x","in":{}})", "$.in: the field 'y' is missing"},
      {R"({"b":1,"aa":"x","zz":1})", "$: unknown field \"zz\""},
      {R"({"b":1,"":1})", "$: unknown field \"\""},
      {R"({"b":1,"B":1})", "$: unknown field \"B\""},
      {R"({"b":1,"aa":"x","b":1})", "$.b: the field is there twice"},
      {R"({"b":1,"aa":"x","\u0062":1})", "$.b: the field is there twice"},
      {R"({"b":1,"aa":"x","in":{"y":1,"y":2}})", "$.in.y: the field is there twice"},
      {R"({"b":1,"aa":null})", "$.aa: expected text, got null"},
      {R"({"b":"1","aa":"x"})", "$.b: expected int, got text"},
      {R"({"b":1,"aa":"x","c":0})", "$.c: expected bool, got nat"},
      {R"({"b":1,"aa":"x","in":{"x":-1,"y":2}})", "$.in.x: expected nat, got negative int"},
  };
  for (const auto& [json, error] : cases) EXPECT_EQ(encode(order(), json), error) << json;
}

TEST(NormaliserRecords, an_unknown_name_is_quoted_and_cut) {
  EXPECT_EQ(encode(order(), R"({"a\nb":1})"), R"($: unknown field "a\nb")");
  EXPECT_EQ(encode(order(), "{\"" + std::string(1000, 'x') + "\":1}"),
            "$: unknown field \"" + std::string(64, 'x') + "\"...");
}

TEST(NormaliserRecords, keys_that_are_not_text_are_refused) {
  EXPECT_EQ(recode(order(), "a10102"), "$: expected the name of a field, got nat");
  EXPECT_EQ(recode(order(), "a1416202"), "$: expected the name of a field, got bytes");
}

TEST(NormaliserRecords, many_fields_are_found_by_name_and_sorted) {
  std::string type;
  std::string forwards;
  std::string backwards;
  for (int i = 0; i < 4096; ++i) {
    const std::string name = "\"f" + std::to_string(i) + "\":";
    type += (i == 0 ? "" : ",") + name + R"({"nat":{}})";
    forwards += (i == 0 ? "" : ",") + name + std::to_string(i);
    backwards = name + std::to_string(i) + (i == 0 ? "" : ",") + backwards;
  }
  const Schema schema = schema_of(R"({"record":{)" + type + "}}");
  const std::string canonical = encode(schema, "{" + forwards + "}");
  EXPECT_EQ(canonical.substr(0, 6 + 8), "b9100062663000");
  EXPECT_EQ(encode(schema, "{" + backwards + "}"), canonical);
}

}  // namespace
}  // namespace holdfast::codec
