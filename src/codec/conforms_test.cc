// SPDX-License-Identifier: Apache-2.0
#include "codec/conforms.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "codec/normaliser.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

struct Case {
  const char* type;
  const char* json;
};

// The common types, canonical: it is sure.
TEST(ConformsTest, is_sure_of_canonical_values_of_the_common_types) {
  const Case cases[] = {
      {R"({"bool":{}})", "true"},
      {R"({"nat":{}})", "18446744073709551615"},
      {R"({"int":{}})", "-9223372036854775808"},
      {R"({"int":{}})", "9223372036854775807"},
      {R"({"text":{}})", R"("grün")"},
      {R"({"bytes":{}})", R"("AQID")"},
      {R"({"option":{"nat":{}}})", "null"},
      {R"({"option":{"nat":{}}})", "7"},
      {R"({"list":{"record":{"a":{"nat":{}}}}})", R"([{"a":1},{"a":1000}])"},
      {R"({"record":{"long":{"text":{}},"a":{"option":{"text":{}}},"b":{"nat":{}}}})",
       R"({"long":"x","b":5})"},
      {R"({"variant":{"On":{"unit":{}},"At":{"nat":{}}}})", R"({"$tag":"On"})"},
      {R"({"variant":{"On":{"unit":{}},"At":{"nat":{}}}})", R"({"$tag":"At","$value":3})"},
  };
  Normaliser normaliser;
  for (const Case& good : cases) {
    const Schema schema = testing::schema_of(good.type);
    const auto made = normaliser.from_json(schema, good.json);
    ASSERT_TRUE(made) << good.type << made.error().to_string();
    const base::Bytes bytes(made->begin() + 3, made->end());
    EXPECT_TRUE(surely_conforms(schema, bytes)) << good.type << " " << good.json;
    const auto part = normaliser.part_from_cbor(schema, bytes);
    EXPECT_EQ(part->data(), bytes.data()) << "it is not copied";
  }
}

struct Refusal {
  const char* type;
  const char* hex;
};

TEST(ConformsTest, is_not_sure_of_anything_else) {
  const Refusal refusals[] = {
      {R"({"nat":{}})", ""},
      {R"({"nat":{}})", "1801"},  // one in two bytes
      {R"({"nat":{}})", "20"},
      {R"({"nat":{}})", "0101"},  // two values
      {R"({"nat":{}})", "d9d9f701"},
      {R"({"nat":{}})", "1b00"},  // cut
      {R"({"nat":{}})", "1f"},
      {R"({"text":{}})", "61ff"},                  // not UTF-8
      {R"({"text":{}})", "7bffffffffffffffff61"},  // a length that lies
      {R"({"bytes":{}})", "42aa"},
      {R"({"bool":{}})", "f6"},
      {R"({"int":{}})", "1b8000000000000000"},
      {R"({"record":{"a":{"nat":{}}}})", "a0"},
      {R"({"record":{"a":{"nat":{}}}})", "a1616201"},
      {R"({"record":{"a":{"nat":{}},"b":{"nat":{}}}})", "a2616201616101"},
      {R"({"list":{"nat":{}}})", "9f01ff"},
      {R"({"list":{"nat":{}}})", "9bffffffffffffffff01"},
      {R"({"variant":{"On":{"unit":{}}}})", "624f6e"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_FALSE(surely_conforms(testing::schema_of(refusal.type), *base::from_hex(refusal.hex)))
        << refusal.type << " " << refusal.hex;
  }
}

TEST(ConformsTest, leaves_deep_and_large_values_to_the_normaliser) {
  std::string type = R"({"nat":{}})";
  base::Bytes deep;
  for (int i = 0; i < 20; ++i) {
    type = R"({"list":)" + type + "}";
    deep.push_back(0x81);
  }
  deep.push_back(0x01);
  EXPECT_FALSE(surely_conforms(testing::schema_of(type), deep));
  Normaliser normaliser;
  EXPECT_EQ(base::Bytes(normaliser.part_from_cbor(testing::schema_of(type), deep)->begin(),
                        normaliser.part_from_cbor(testing::schema_of(type), deep)->end()),
            deep);
}

}  // namespace
}  // namespace holdfast::codec
