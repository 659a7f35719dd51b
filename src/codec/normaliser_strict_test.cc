// SPDX-License-Identifier: Apache-2.0
// A strict decode accepts canonical bytes and says of others how they are not canonical.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;
using testing::schema_of;
using testing::strict;

struct StrictCase {
  std::string_view type;
  std::string_view cbor;
  std::string_view error;
};

TEST(NormaliserStrict, canonical_bytes_are_accepted) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"any":{}})", "a26161820102626161f6"},
      {R"({"float":{}})", "f93c00"},
      {R"({"float":{}})", "f97e00"},
      {R"({"set":{"nat":{}}})", "820102"},
      {R"({"map":{"key":{"int":{}},"value":{"unit":{}}}})", "a205f620f6"},
      {R"({"record":{"a":{"option":{"nat":{}}}}})", "a16161f6"},
      {R"({"variant":{"A":{"unit":{}}}})", "a164247461676141"},
  };
  for (const auto& [type, cbor] : cases) EXPECT_EQ(strict(type, cbor), cbor);
}

TEST(NormaliserStrict, other_spellings_are_refused_with_their_place) {
  const StrictCase cases[] = {
      {R"({"nat":{}})", "1801", "$: not canonical: a number is not in its shortest form (byte 4)"},
      {R"({"nat":{}})", "1b0000000000000001",
       "$: not canonical: a number is not in its shortest form (byte 4)"},
      {R"({"text":{}})", "780161",
       "$: not canonical: a number is not in its shortest form (byte 4)"},
      {R"({"list":{"nat":{}}})", "980101",
       "$: not canonical: a number is not in its shortest form (byte 4)"},
      {R"({"list":{"nat":{}}})", "821801",
       "$[0]: not canonical: a number is not in its shortest form (byte 5)"},
      {R"({"list":{"nat":{}}})", "9f01ff", "$: not canonical: an indefinite length (byte 4)"},
      {R"({"any":{}})", "a16161bfff", "$.a: not canonical: an indefinite length (byte 7)"},
      {R"({"text":{}})", "7f6161ff", "$: not canonical: an indefinite length (byte 4)"},
      {R"({"bytes":{}})", "5fff", "$: not canonical: an indefinite length (byte 4)"},
      {R"({"float":{}})", "fa3f800000", "$: not canonical: the first difference is at byte 3"},
      {R"({"float":{}})", "f97e01", "$: not canonical: the first difference is at byte 5"},
      {R"({"float":{}})", "01", "$: not canonical: the first difference is at byte 3"},
      {R"({"any":{}})", "a2616201616102", "$: not canonical: the first difference is at byte 5"},
      {R"({"set":{"nat":{}}})", "820201", "$: not canonical: the first difference is at byte 4"},
      {R"({"set":{"nat":{}}})", "820101", "$: not canonical: the first difference is at byte 3"},
      {R"({"map":{"key":{"int":{}},"value":{"unit":{}}}})", "a220f605f6",
       "$: not canonical: the first difference is at byte 4"},
      {R"({"map":{"key":{"int":{}},"value":{"unit":{}}}})", "a16131f6",
       "$: not canonical: the first difference is at byte 4"},
      {R"({"record":{"a":{"option":{"nat":{}}}}})", "a0",
       "$: not canonical: the first difference is at byte 3"},
      {R"({"variant":{"A":{"nat":{}}}})", "a1614101",
       "$: not canonical: the first difference is at byte 3"},
      {R"({"variant":{"A":{"unit":{}}}})", "a264247461676141662476616c7565f6",
       "$: not canonical: the first difference is at byte 3"},
      {R"({"variant":{"A":{"nat":{}}}})", "a2662476616c75650164247461676141",
       "$: not canonical: the first difference is at byte 4"},
      {R"({"unit":{}})", "a0", "$: not canonical: the first difference is at byte 3"},
      {R"({"bytes":{}})", "644151493d", "$: not canonical: the first difference is at byte 3"},
      {R"({"dec128":{}})", "64302e3530", "$: not canonical: the first difference is at byte 3"},
      {R"({"dec128":{}})", "05", "$: not canonical: the first difference is at byte 3"},
      {R"({"time":{}})", "74313937302d30312d30315430303a30303a30305a",
       "$: not canonical: the first difference is at byte 3"},
      {R"({"any":{}})", "a2616101616102", "$.a: the key is there twice"},
      {R"({"any":{}})", "d9d9f701", "$: expected a JSON value, got tag"},
  };
  for (const auto& [type, cbor, error] : cases) EXPECT_EQ(strict(type, cbor), error) << type;
}

TEST(NormaliserStrict, the_self_describe_tag_must_be_there) {
  Normaliser normaliser;
  for (const std::string_view hex : {"01", "", "d9d9", "dad9d9f70001", "da0000d9f701"}) {
    const auto refused = normaliser.from_cbor(Schema::any(), bytes_of(hex), Strictness::kStrict);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().to_string(),
              "$: not canonical: the self-describe tag d9d9f7 is missing");
  }
}

TEST(NormaliserStrict, a_uuid_in_upper_case_is_refused) {
  Normaliser normaliser;
  const Schema schema = schema_of(R"({"uuid":{}})");
  const auto bytes = normaliser.from_json(schema, R"("00112233-4455-6677-8899-aabbccddeeff")");
  base::Bytes copy(bytes->begin(), bytes->end());
  EXPECT_TRUE(normaliser.from_cbor(schema, copy, Strictness::kStrict));
  copy.back() = 'F';
  EXPECT_EQ(normaliser.from_cbor(schema, copy, Strictness::kStrict).error().to_string(),
            "$: not canonical: the first difference is at byte 40");
}

}  // namespace
}  // namespace holdfast::codec
