// SPDX-License-Identifier: Apache-2.0
// Variants: {"$tag":arm,"$value":value} in either order, or {arm: value}; a unit arm has one
// encoding.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::recode;
using testing::schema_of;
using testing::Types;

const Schema& status() {
  static const Schema schema = schema_of(
      R"({"variant":{"Idle":{"unit":{}},"Busy":{"record":{"n":{"nat":{}}}},
                     "Note":{"option":{"text":{}}},"Raw":{"bytes":{}},"None":{"ref":"t/Nothing@1"},
                     "Deep":{"variant":{"In":{"list":{"nat":{}}},"Out":{"unit":{}}}}}})",
      Types{{"t/Nothing@1", R"({"unit":{}})"}});
  return schema;
}

TEST(NormaliserVariants, every_form_of_an_arm_has_one_encoding) {
  struct Arm {
    std::string_view canonical;
    std::vector<std::string_view> forms;
  };
  const Arm arms[] = {
      {"a264247461676442757379662476616c7565a1616e01",
       {R"({"$tag":"Busy","$value":{"n":1}})", R"({"$value":{"n":1},"$tag":"Busy"})",
        R"({"Busy":{"n":1}})", R"( { "\u0024tag" : "Busy" , "$value" : { "n" : 1 } } )"}},
      {"a164247461676449646c65",
       {R"({"$tag":"Idle"})", R"({"$tag":"Idle","$value":null})", R"({"$tag":"Idle","$value":{}})",
        R"({"$value":null,"$tag":"Idle"})", R"({"$value":{},"$tag":"Idle"})", R"({"Idle":null})",
        R"({"Idle":{}})"}},
      {"a16424746167644e6f6e65", {R"({"$tag":"None"})", R"({"None":null})", R"({"None":{}})"}},
      {"a26424746167644e6f7465662476616c7565f6",
       {R"({"$tag":"Note"})", R"({"$tag":"Note","$value":null})",
        R"({"$value":null,"$tag":"Note"})", R"({"Note":null})"}},
      {"a2642474616763526177662476616c75654101",
       {R"({"Raw":"AQ=="})", R"({"Raw":{"$bytes":"AQ=="}})",
        R"({"$value":{"$bytes":"AQ=="},"$tag":"Raw"})"}},
      {"a264247461676444656570662476616c7565a2642474616762496e662476616c7565820102",
       {R"({"Deep":{"In":[1,2]}})", R"({"$value":{"$value":[1,2],"$tag":"In"},"$tag":"Deep"})",
        R"({"$value":{"In":[1,2]},"$tag":"Deep"})",
        R"({"$tag":"Deep","$value":{"$value":[1,2],"$tag":"In"}})"}},
      {"a264247461676444656570662476616c7565a16424746167634f7574",
       {R"({"Deep":{"$tag":"Out"}})", R"({"$value":{"$value":null,"$tag":"Out"},"$tag":"Deep"})",
        R"({"$value":{"Out":{}},"$tag":"Deep"})"}},
  };
  for (const Arm& arm : arms) {
    for (const std::string_view form : arm.forms)
      EXPECT_EQ(encode(status(), form), arm.canonical) << form;
  }
}

TEST(NormaliserVariants, cbor_may_have_the_value_first_and_indefinite_lengths) {
  const std::string canonical = "a264247461676442757379662476616c7565a1616e01";
  EXPECT_EQ(recode(status(), canonical), canonical);
  EXPECT_EQ(recode(status(), "a2662476616c7565a1616e0164247461676442757379"), canonical);
  EXPECT_EQ(recode(status(), "bf662476616c7565bf616e01ff64247461676442757379ff"), canonical);
  EXPECT_EQ(recode(status(), "bf6442757379bf616e01ffff"), canonical);
  EXPECT_EQ(recode(status(), "bf7f624275627379ffbf616e01ffff"), canonical);
}

TEST(NormaliserVariants, what_is_not_a_variant_is_refused) {
  struct Case {
    std::string_view json;
    std::string_view error;
  };
  const Case cases[] = {
      {R"("Idle")", "$: expected variant (a map), got text"},
      {R"(["Idle"])", "$: expected variant (a map), got list"},
      {R"({})", "$: expected a variant, got an empty map"},
      {R"({"Nope":1})", "$: the variant has no arm \"Nope\""},
      {R"({"$tag":"Nope","$value":1})", "$: the variant has no arm \"Nope\""},
      {R"({"$tag":5,"$value":1})", "$: expected a text as $tag, got nat"},
      {R"({"$tag":null})", "$: expected a text as $tag, got null"},
      {R"({"$value":{"n":1}})", "$: a variant has a $value but no $tag"},
      {R"({"$tag":"Busy"})", "$: the arm 'Busy' needs a $value"},
      {R"({"$tag":"Busy","$tag":"Busy"})", "$: $tag is there twice"},
      {R"({"$value":{"n":1},"$value":{"n":1}})", "$: $value is there twice"},
      {R"({"$tag":"Busy","$value":{"n":1},"$value":{"n":1}})", "$: $value is there twice"},
      {R"({"$value":{"n":1},"$tag":"Busy","$tag":"Busy"})", "$: $tag is there twice"},
      {R"({"$tag":"Busy","n":1})", "$: a variant has only $tag and $value, not \"n\""},
      {R"({"$value":{"n":1},"Busy":1})", "$: a variant has only $tag and $value, not \"Busy\""},
      {R"({"$tag":"Busy","$value":{"n":1},"x":0})",
       "$: a variant has only $tag and $value, not \"x\""},
      {R"({"Busy":{"n":1},"Idle":null})", "$: a variant has one arm only, not \"Idle\""},
      {R"({"Busy":{"n":1},"$tag":"Busy"})", "$: a variant has one arm only, not \"$tag\""},
      {R"({"Busy":{"n":"1"}})", "$.Busy.n: expected nat, got text"},
      {R"({"$tag":"Busy","$value":{"n":"1"}})", "$.$value.n: expected nat, got text"},
      {R"({"$value":{"n":"1"},"$tag":"Busy"})", "$.$value.n: expected nat, got text"},
      {R"({"Deep":{"$value":[true],"$tag":"In"}})", "$.Deep.$value[0]: expected nat, got bool"},
      {R"({"Idle":1})", "$.Idle: expected unit (null), got nat"},
      {R"({"Idle":{"a":1}})", "$.Idle: expected unit (null), got a map"},
      {R"({"$tag":"Idle","$value":"x"})", "$.$value: expected unit (null), got text"},
      {R"({"Busy":null})", "$.Busy: expected record (a map), got null"},
  };
  for (const auto& [json, error] : cases) EXPECT_EQ(encode(status(), json), error) << json;
}

TEST(NormaliserVariants, keys_that_are_not_text_are_refused) {
  EXPECT_EQ(recode(status(), "a10102"), "$: expected a variant, got a map with other keys");
  EXPECT_EQ(recode(status(), "a2642474616764427573790102"),
            "$: a variant has only $tag and $value, not nat");
  EXPECT_EQ(recode(status(), "a2642474616764427573798101f6"),
            "$: a map key must be a text or an integer (byte 12)");
}

}  // namespace
}  // namespace holdfast::codec
