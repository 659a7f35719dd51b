// SPDX-License-Identifier: Apache-2.0
// The limits of codec/limits.h: what is exactly as large is accepted, one more is refused.
#include <gtest/gtest.h>

#include <string>

#include "codec/limits.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::schema_of;

constexpr std::size_t kTextHead = 5;  // of a text of more than 64 KiB

// A text alone that takes `size` bytes when encoded, the self-describe tag included.
std::string text_that_encodes_to(std::size_t size) {
  return '"' + std::string(size - 3 - kTextHead, 'x') + '"';
}

TEST(NormaliserLimits, a_text_alone_may_take_all_the_bytes_of_a_value_but_no_more) {
  Normaliser normaliser;
  for (const std::string_view type : {R"({"text":{}})", R"({"any":{}})"}) {
    const Schema schema = schema_of(type);
    EXPECT_EQ(normaliser.from_json(schema, text_that_encodes_to(kMaxValueBytes))->size(),
              kMaxValueBytes);
    const auto refused = normaliser.from_json(schema, text_that_encodes_to(kMaxValueBytes + 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
    EXPECT_EQ(refused.error().to_string(),
              "$: encoded it is larger than a value may be (16777216 bytes)");
  }
}

TEST(NormaliserLimits, what_a_normaliser_accepts_its_own_strict_decode_accepts) {
  Normaliser normaliser;
  const Schema schema = Schema::any();
  const base::Bytes largest = [&] {
    const auto canonical = normaliser.from_json(schema, text_that_encodes_to(kMaxValueBytes));
    return base::Bytes(canonical->begin(), canonical->end());
  }();
  EXPECT_TRUE(normaliser.from_cbor(schema, largest, Strictness::kStrict));
}

}  // namespace
}  // namespace holdfast::codec
