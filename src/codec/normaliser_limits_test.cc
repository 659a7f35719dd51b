// SPDX-License-Identifier: Apache-2.0
// The limits of codec/limits.h: what is exactly as large is accepted, one more is refused.
#include <gtest/gtest.h>

#include <string>

#include "codec/json_writer.h"
#include "codec/limits.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;
using testing::encode;
using testing::recode;
using testing::repeat;
using testing::schema_of;
using testing::strict;

constexpr std::string_view kTooDeepAt = "nested deeper than 64 (";

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

// Types whose encoding has more items than what is written for it.
TEST(NormaliserLimits, items_are_counted_as_they_are_encoded) {
  const Schema options = schema_of(
      R"({"list":{"record":{"a":{"option":{"nat":{}}},"b":{"option":{"nat":{}}},"c":{"option":{"nat":{}}}}}})");
  const Schema arms = schema_of(R"({"list":{"variant":{"a":{"nat":{}},"b":{"unit":{}}}}})");
  struct Case {
    const Schema& schema;
    std::string_view element;
    std::size_t items;  // of one element, encoded
  };
  Normaliser normaliser;
  for (const Case& some :
       {Case{options, "{}", 7}, Case{arms, R"({"a":0})", 5}, Case{arms, R"({"b":null})", 3}}) {
    const std::size_t most = (kMaxItems - 1) / some.items;
    const auto list = [&](std::size_t count) {
      std::string json = "[";
      for (std::size_t i = 0; i < count; ++i) (json += i == 0 ? "" : ",") += some.element;
      return json + "]";
    };
    const auto largest = normaliser.from_json(some.schema, list(most));
    ASSERT_TRUE(largest) << largest.error().to_string();
    const base::Bytes canonical(largest->begin(), largest->end());
    EXPECT_TRUE(normaliser.from_cbor(some.schema, canonical, Strictness::kStrict)) << some.element;
    EXPECT_FALSE(to_json(View::of(canonical)).empty());
    const auto refused = normaliser.from_json(some.schema, list(most + 1));
    ASSERT_FALSE(refused) << some.element;
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  }
}

bool is_too_deep(const std::string& outcome) {
  return outcome.find(kTooDeepAt) != std::string::npos;
}

TEST(NormaliserLimits, json_may_nest_64_deep_and_no_deeper) {
  for (const Schema& schema : {Schema::any(), Schema::item()}) {
    EXPECT_EQ(encode(schema, repeat("[", 64) + repeat("]", 64)), repeat("81", 63) + "80");
    EXPECT_EQ(encode(schema, repeat("[", 65) + repeat("]", 65)),
              "$" + repeat("[0]", 64) + ": nested deeper than 64 (line 1, column 66)");
    EXPECT_EQ(encode(schema, repeat("{\"a\":", 63) + "{}" + repeat("}", 63)),
              repeat("a16161", 63) + "a0");
    EXPECT_TRUE(is_too_deep(encode(schema, repeat("{\"a\":", 64) + "{}" + repeat("}", 64))));
  }
}

TEST(NormaliserLimits, cbor_may_nest_64_deep_and_no_deeper) {
  for (const Schema& schema : {Schema::any(), Schema::item()}) {
    for (const std::string_view level : {"81", "9f", "a16161", "bf6161"}) {
      const std::string end = level[1] == 'f' || level[0] == 'b' ? "ff" : "";
      const std::string fits = repeat(level, 63) + "80" + repeat(end, 63);
      EXPECT_EQ(recode(schema, fits).substr(0, 1), level.size() == 2 ? "8" : "a") << level;
      EXPECT_TRUE(is_too_deep(recode(schema, repeat(level, 64) + "80" + repeat(end, 64)))) << level;
    }
    const std::string fits = repeat("81", 63) + "80";
    EXPECT_EQ(strict(schema, fits), fits);
    EXPECT_TRUE(is_too_deep(strict(schema, "81" + fits)));
  }
  EXPECT_EQ(recode(Schema::item(), repeat("c0", 64) + "01"), repeat("c0", 64) + "01");
  EXPECT_TRUE(is_too_deep(recode(Schema::item(), repeat("c0", 65) + "01")));
  EXPECT_TRUE(is_too_deep(recode(Schema::item(), repeat("a1", 65) + repeat("01", 66))));
}

// Variants inside variants, so that each level of the value is read by its own frame.
Schema variants(std::size_t levels, const std::string& innermost) {
  testing::Types types{{"t/0@1", innermost}};
  for (std::size_t i = 0; i < levels; ++i) {
    const Type inner{TypeKind::kRef, "t/" + std::to_string(i) + "@1", {}, {}};
    types.add("t/" + std::to_string(i + 1) + "@1", {TypeKind::kVariant, {}, {{"A", inner}}, {}});
  }
  return schema_of(R"({"ref":"t/)" + std::to_string(levels) + R"(@1"})", types);
}

TEST(NormaliserLimits, variants_count_as_deep_as_they_are_in_every_form) {
  const std::string tagged = R"({"$tag":"A","$value":)";
  const std::string arm = R"({"A":)";
  const std::string value_first = R"({"$value":)";
  const std::string tag_last = R"(,"$tag":"A"})";
  const Schema fits = variants(63, R"({"list":{"nat":{}}})");
  const std::string canonical = repeat("a264247461676141662476616c7565", 63) + "8101";
  EXPECT_EQ(encode(fits, repeat(tagged, 63) + "[1]" + repeat("}", 63)), canonical);
  EXPECT_EQ(encode(fits, repeat(arm, 63) + "[1]" + repeat("}", 63)), canonical);
  EXPECT_EQ(encode(fits, repeat(value_first, 63) + "[1]" + repeat(tag_last, 63)), canonical);
  EXPECT_EQ(recode(fits, canonical), canonical);
  EXPECT_EQ(recode(fits, repeat("a2662476616c7565", 63) + "8101" + repeat("64247461676141", 63)),
            canonical);
  const Schema too_deep = variants(64, R"({"list":{"nat":{}}})");
  EXPECT_TRUE(is_too_deep(encode(too_deep, repeat(tagged, 64) + "[1]" + repeat("}", 64))));
  EXPECT_TRUE(is_too_deep(encode(too_deep, repeat(arm, 64) + "[1]" + repeat("}", 64))));
  EXPECT_TRUE(
      is_too_deep(encode(too_deep, repeat(value_first, 64) + "[1]" + repeat(tag_last, 64))));
  EXPECT_TRUE(is_too_deep(
      recode(too_deep, repeat("a2662476616c7565", 64) + "8101" + repeat("64247461676141", 64))));
}

TEST(NormaliserLimits, a_value_before_its_tag_may_nest_as_deep_as_one_behind_it) {
  const Schema schema = variants(1, R"({"any":{}})");
  for (const std::size_t depth : {62u, 63u, 64u, 65u, 1000u}) {
    const std::string deep = repeat("[", depth) + repeat("]", depth);
    const std::string behind = encode(schema, R"({"$tag":"A","$value":)" + deep + "}");
    const std::string before = encode(schema, R"({"$value":)" + deep + R"(,"$tag":"A"})");
    EXPECT_EQ(is_too_deep(behind), depth > 63) << depth;
    EXPECT_EQ(is_too_deep(before), depth > 63) << depth;
    if (depth > 63) continue;
    EXPECT_EQ(before, behind);
  }
}

TEST(NormaliserLimits, forms_that_are_no_containers_do_not_count_as_deep) {
  const std::string open = repeat("[", 64);
  const std::string close = repeat("]", 64);
  const auto lists_of = [](const std::string& inner) {
    return schema_of(
        repeat(R"({"list":)", 32) + R"({"ref":"t/Inner@1"})" + repeat("}", 32),
        testing::Types{{"t/Inner@1", repeat(R"({"list":)", 32) + inner + repeat("}", 32)}});
  };
  EXPECT_EQ(encode(lists_of(R"({"bytes":{}})"), open + R"({"$bytes":""})" + close),
            repeat("81", 64) + "40");
  EXPECT_EQ(encode(lists_of(R"({"unit":{}})"), open + "{}" + close), repeat("81", 64) + "f6");
  EXPECT_EQ(encode(lists_of(R"({"option":{"nat":{}}})"), open + "1" + close),
            repeat("81", 64) + "01");
}

TEST(NormaliserLimits, the_number_of_items_is_bounded) {
  // A list and its elements; one byte per element, so that the bytes are not the limit.
  const auto list_of = [](std::size_t count) {
    base::Bytes bytes = {0x9a, static_cast<std::uint8_t>(count >> 24),
                         static_cast<std::uint8_t>(count >> 16),
                         static_cast<std::uint8_t>(count >> 8), static_cast<std::uint8_t>(count)};
    bytes.resize(bytes.size() + count, 0);
    return bytes;
  };
  Normaliser normaliser;
  const Schema schema = schema_of(R"({"list":{"nat":{}}})");
  EXPECT_TRUE(normaliser.from_cbor(schema, list_of(kMaxItems - 1), Strictness::kLenient));
  const auto refused = normaliser.from_cbor(schema, list_of(kMaxItems), Strictness::kLenient);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().to_string(),
            "$[4194303]: more items than a value may have (4194304)");
  const auto json = normaliser.from_json(schema, "[0" + repeat(",0", kMaxItems - 1) + "]");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().code(), base::ErrorCode::kTooLarge);
}

TEST(NormaliserLimits, input_of_more_bytes_is_not_looked_at) {
  Normaliser normaliser;
  const std::string json(kMaxValueBytes + 1, ' ');
  EXPECT_EQ(normaliser.from_json(Schema::any(), json).error().to_string(),
            "$: 16777217 bytes are more than a value may have (16777216)");
  EXPECT_EQ(normaliser.from_cbor(Schema::any(), base::as_bytes(json), Strictness::kLenient)
                .error()
                .code(),
            base::ErrorCode::kTooLarge);
}

// Every `{}` becomes a record of many nulls: a few bytes ask for many.
TEST(NormaliserLimits, absent_options_count_for_the_size) {
  std::string fields;
  for (int i = 0; i < 4096; ++i) {
    fields += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"option":{"nat":{}}})";
  }
  const Schema schema = schema_of(R"({"list":{"record":{)" + fields + "}}}");
  Normaliser normaliser;
  EXPECT_TRUE(normaliser.from_json(schema, "[{}" + repeat(",{}", 99) + "]"));
  const auto refused = normaliser.from_json(schema, "[{}" + repeat(",{}", 999999) + "]");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
}

TEST(NormaliserLimits, a_normaliser_works_on_after_a_refusal) {
  Normaliser normaliser;
  const Schema schema = Schema::any();
  for (const std::string& bad :
       {repeat("[", 100), repeat("{\"a\":", 100), std::string("{\"a\":[1,{}")}) {
    EXPECT_FALSE(normaliser.from_json(schema, bad));
    const auto good = normaliser.from_json(schema, R"({"b":[1],"a":{}})");
    ASSERT_TRUE(good);
    EXPECT_TRUE(base::equal(*good, bytes_of("d9d9f7a26161a061628101")));
  }
}

}  // namespace
}  // namespace holdfast::codec
