// SPDX-License-Identifier: Apache-2.0
#include "codec/normaliser.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/hex.h"
#include "codec/json_writer.h"

namespace holdfast::codec {
namespace {

class NoTypes : public TypeSource {
 public:
  const Type* find(std::string_view) const override { return nullptr; }
};

Schema schema_of(std::string_view type_json) {
  Normaliser normaliser;
  const auto expression = normaliser.from_json(Schema::any(), type_json);
  EXPECT_TRUE(expression) << expression.error().to_string();
  Errors errors;
  const auto type = parse_type(View::of(*expression), "$", errors);
  EXPECT_TRUE(type) << errors.front().to_string();
  auto schema = Schema::compile(*type, NoTypes(), "$", errors);
  EXPECT_TRUE(schema) << errors.front().to_string();
  return std::move(*schema);
}

// The canonical bytes in hex without the self-describe tag, or the error.
std::string encode(const Schema& schema, std::string_view json) {
  Normaliser normaliser;
  const auto bytes = normaliser.from_json(schema, json);
  if (!bytes) return bytes.error().to_string();
  return base::to_hex(*bytes).substr(6);
}

std::string encode(std::string_view type, std::string_view json) {
  return encode(schema_of(type), json);
}

TEST(Normaliser, any_order_of_fields_gives_one_encoding) {
  const std::string type =
      R"({"record":{"b":{"int":{}},"aa":{"text":{}},"c":{"option":{"bool":{}}}}})";
  const std::string canonical = encode(type, R"({"b":-1,"c":null,"aa":"x"})");
  EXPECT_EQ(canonical, "a36162206163f66261616178");
  EXPECT_EQ(encode(type, R"({"aa":"x","c":null,"b":-1})"), canonical);
  EXPECT_EQ(encode(type, R"( { "aa" : "x" , "b" : -1 } )"), canonical);
}

TEST(Normaliser, an_error_names_its_path) {
  const std::string type = R"({"record":{"items":{"list":{"record":{"price":{"nat":{}}}}}}})";
  EXPECT_EQ(encode(type, R"({"items":[{"price":1},{"price":2},{"price":3},{"price":"4"}]})"),
            "$.items[3].price: expected nat, got text");
}

TEST(Normaliser, variants_have_one_encoding_whatever_the_sugar) {
  const std::string type =
      R"({"variant":{"Idle":{"unit":{}},"Start":{"record":{"n":{"nat":{}}}}}})";
  const std::string start = encode(type, R"({"$tag":"Start","$value":{"n":1}})");
  EXPECT_EQ(encode(type, R"({"$value":{"n":1},"$tag":"Start"})"), start);
  EXPECT_EQ(encode(type, R"({"Start":{"n":1}})"), start);
  const std::string idle = encode(type, R"({"$tag":"Idle"})");
  EXPECT_EQ(idle, "a164247461676449646c65");
  EXPECT_EQ(encode(type, R"({"$tag":"Idle","$value":null})"), idle);
  EXPECT_EQ(encode(type, R"({"$value":{},"$tag":"Idle"})"), idle);
  EXPECT_EQ(encode(type, R"({"Idle":null})"), idle);
  EXPECT_EQ(encode(type, R"({"Idle":{}})"), idle);
}

TEST(Normaliser, any_is_sorted_and_refuses_a_key_that_is_there_twice) {
  EXPECT_EQ(encode(Schema::any(), R"({"bb":1,"a":[1.5,"x",{}],"c":null})"),
            "a3616183f93e006178a06163f662626201");
  EXPECT_EQ(encode(Schema::any(), R"({"x":{"b":1,"a":2,"b":3}})"), "$.x.b: the key is there twice");
}

}  // namespace
}  // namespace holdfast::codec
