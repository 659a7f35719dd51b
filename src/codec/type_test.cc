// SPDX-License-Identifier: Apache-2.0
#include "codec/type.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/json_writer.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::repeat;
using testing::to_text;
using testing::type_of;

// The type written back as JSON, or its errors.
std::string parsed(std::string_view json) {
  Errors errors;
  const auto type = type_of(json, errors);
  EXPECT_EQ(type.has_value(), errors.empty());
  if (!type) return to_text(errors);
  Buffer out;
  write_type(out, *type);
  return to_json(View::of(out.view()));
}

TEST(Type, every_kind_is_written_back_as_it_was_read) {
  for (const std::string_view json : {R"({"bool":{}})",
                                      R"({"int":{}})",
                                      R"({"nat":{}})",
                                      R"({"float":{}})",
                                      R"({"dec128":{}})",
                                      R"({"bytes":{}})",
                                      R"({"text":{}})",
                                      R"({"time":{}})",
                                      R"({"duration":{}})",
                                      R"({"hash":{}})",
                                      R"({"uuid":{}})",
                                      R"({"unit":{}})",
                                      R"({"any":{}})",
                                      R"({"record":{}})",
                                      R"({"record":{"a":{"nat":{}},"bb":{"record":{}}}})",
                                      R"({"variant":{"A":{"unit":{}},"B":{"text":{}}}})",
                                      R"({"list":{"list":{"nat":{}}}})",
                                      R"({"set":{"text":{}}})",
                                      R"({"option":{"text":{}}})",
                                      R"({"ref":"com.acme/Point@1"})",
                                      R"({"map":{"key":{"int":{}},"value":{"nat":{}}}})",
                                      R"({"map":{"key":{"nat":{}},"value":{"nat":{}}}})",
                                      R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})",
                                      R"({"map":{"key":{"uuid":{}},"value":{"nat":{}}}})",
                                      R"({"map":{"key":{"hash":{}},"value":{"nat":{}}}})"}) {
    EXPECT_EQ(parsed(json), json);
  }
}

TEST(Type, order_and_comments_do_not_matter) {
  EXPECT_EQ(parsed(R"({"$comment":"why","record":{"b":{"nat":{}},"a":{"nat":{},"$comment":1}}})"),
            R"({"record":{"a":{"nat":{}},"b":{"nat":{}}}})");
  EXPECT_EQ(parsed(R"({"map":{"$comment":"k","value":{"nat":{}},"key":{"int":{}}}})"),
            R"({"map":{"key":{"int":{}},"value":{"nat":{}}}})");
}

TEST(Type, what_is_not_a_type_is_refused_with_its_path) {
  struct Case {
    std::string_view json;
    std::string_view errors;
  };
  const Case cases[] = {
      {R"("text")", "$: expected a type expression such as {\"text\":{}}\n"},
      {R"({})", "$: a type expression has exactly one key\n"},
      {R"({"$comment":""})", "$: a type expression has exactly one key\n"},
      {R"({"text":{},"nat":{}})", "$: a type expression has exactly one key\n"},
      {R"({"string":{}})", "$: unknown type \"string\"\n"},
      {R"({"item":{}})", "$: unknown type \"item\"\n"},
      {R"({"text":null})", "$.text: expected {}\n"},
      {R"({"text":{"a":1}})", "$.text: expected {}\n"},
      {R"({"record":[]})", "$.record: expected a map of names to types\n"},
      {R"({"variant":{}})", "$.variant: a variant needs an arm\n"},
      {R"({"list":{}})", "$.list: a type expression has exactly one key\n"},
      {R"({"option":"text"})", "$.option: expected a type expression such as {\"text\":{}}\n"},
      {R"({"ref":{}})", "$.ref: expected the name of a schema\n"},
      {R"({"map":{"text":{}}})", "$.map: unknown field \"text\"\n"},
      {R"({"map":[]})", "$.map: expected {\"key\":...,\"value\":...}\n"},
      {R"({"map":{"key":{"text":{}}}})", "$.map: a map needs a key and a value type\n"},
      {R"({"map":{"key":{"bool":{}},"value":{"nat":{}}}})",
       "$.map.key: a map key is int, nat, text, uuid or hash, not bool\n"},
      {R"({"map":{"key":{"ref":"a/B@1"},"value":{"nat":{}}}})",
       "$.map.key: a map key is int, nat, text, uuid or hash, not ref\n"},
      {R"({"record":{"$tag":{"nat":{}}}})",
       "$.record.$tag: names that begin with $ are reserved\n"},
      {R"({"record":{"":{"nat":{}}}})", "$.record.: a name has 1 to 255 bytes\n"},
      {R"({"record":{"a":{"nat":1},"b":{"nope":{}},"c":{"list":{"x":{}}}}})",
       "$.record.a.nat: expected {}\n$.record.b: unknown type \"nope\"\n"
       "$.record.c.list: unknown type \"x\"\n"},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(parsed(json), errors) << json;
}

TEST(Type, the_number_and_length_of_names_are_bounded) {
  const auto record_of = [](std::size_t fields) {
    std::string json;
    for (std::size_t i = 0; i < fields; ++i) {
      json += (i == 0 ? "\"f" : ",\"f") + std::to_string(i) + R"(":{"nat":{}})";
    }
    return R"({"record":{)" + json + "}}";
  };
  Errors errors;
  EXPECT_TRUE(type_of(record_of(kMaxMembers), errors));
  EXPECT_EQ(parsed(record_of(kMaxMembers + 1)), "$.record: more than 4096 names\n");
  EXPECT_TRUE(type_of(R"({"record":{")" + repeat("x", 255) + R"(":{"nat":{}}}})", errors));
  EXPECT_EQ(parsed(R"({"record":{")" + repeat("x", 256) + R"(":{"nat":{}}}})"),
            "$.record.\"" + repeat("x", 64) + "\"...: a name has 1 to 255 bytes\n");
}

TEST(Type, errors_stay_short_however_long_the_input_is) {
  EXPECT_EQ(parsed("{\"" + repeat("x", 100000) + "\":{}}"),
            "$: unknown type \"" + repeat("x", 64) + "\"...\n");
  std::string fields;
  for (int i = 0; i < 4000; ++i) fields += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  Errors errors;
  EXPECT_FALSE(type_of(R"({"record":{)" + fields + "}}", errors));
  EXPECT_EQ(errors.size(), kMaxErrors);
}

}  // namespace
}  // namespace holdfast::codec
