// SPDX-License-Identifier: Apache-2.0
#include "codec/conforms.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

struct ConformsCase {
  const char* type;
  const char* json;
};

// The common types, canonical: it is sure.
TEST(ConformsTest, is_sure_of_canonical_values_of_the_common_types) {
  const ConformsCase cases[] = {
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
  for (const ConformsCase& good : cases) {
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

TEST(ConformsTest, knows_the_shortest_form_of_every_width) {
  const Schema nat = testing::schema_of(R"({"nat":{}})");
  for (const std::uint64_t edge : {std::uint64_t{24}, std::uint64_t{1} << 8, std::uint64_t{1} << 16,
                                   std::uint64_t{1} << 32, std::uint64_t{0}}) {
    for (const std::uint64_t number : {edge - 1, edge, edge + 1}) {
      Buffer out;
      write_nat(out, number);
      EXPECT_TRUE(surely_conforms(nat, out.view())) << number;
      for (std::size_t size = 0; size < out.size(); ++size)
        EXPECT_FALSE(surely_conforms(nat, out.view(0, size))) << number << " cut at " << size;
      for (int width = 0; width < 4; ++width) {
        base::Bytes longer{static_cast<std::uint8_t>(24 + width)};
        for (int byte = (1 << width) - 1; byte >= 0; --byte)
          longer.push_back(static_cast<std::uint8_t>(byte < 8 ? number >> (8 * byte) : 0));
        if (longer.size() <= out.size()) continue;
        EXPECT_FALSE(surely_conforms(nat, longer)) << number << " in " << longer.size();
      }
    }
  }
}

// Names of every length are compared to the last bit.
TEST(ConformsTest, is_not_sure_of_a_name_with_another_bit) {
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string name(size, 'n');
    const Schema schema = testing::schema_of(R"({"record":{")" + name + R"(":{"bool":{}}}})");
    Buffer out;
    write_map_head(out, 1);
    write_text(out, name);
    write_bool(out, true);
    ASSERT_TRUE(surely_conforms(schema, out.view())) << size;
    for (std::size_t bit = 0; bit < 8 * (out.size() - 1); ++bit) {
      base::Bytes other = out.to_bytes();
      other[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      ASSERT_FALSE(surely_conforms(schema, other)) << size << " bit " << bit;
    }
  }
}

// A byte that is no UTF-8, at every place of texts of every length.
TEST(ConformsTest, is_not_sure_of_text_with_a_bad_byte) {
  const Schema schema = testing::schema_of(R"({"text":{}})");
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 't');
      Buffer out;
      write_text(out, text);
      ASSERT_TRUE(surely_conforms(schema, out.view())) << size;
      text[at] = static_cast<char>(0x80);
      out.clear();
      write_text(out, text);
      ASSERT_FALSE(surely_conforms(schema, out.view())) << size << " at " << at;
    }
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
