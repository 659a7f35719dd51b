// SPDX-License-Identifier: Apache-2.0
#include "codec/normaliser.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;

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

TEST(NormaliserDeathTest, its_own_output_cannot_be_its_input) {
  Normaliser normaliser;
  const auto canonical = normaliser.from_json(Schema::any(), R"({"a":1})");
  ASSERT_TRUE(canonical);
  EXPECT_DEATH(
      static_cast<void>(normaliser.from_cbor(Schema::any(), *canonical, Strictness::kStrict)),
      "holds");
}

}  // namespace
}  // namespace holdfast::codec
