// SPDX-License-Identifier: Apache-2.0
#include "codec/schema.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::repeat;
using testing::schema_of;
using testing::to_text;
using testing::type_of;
using testing::Types;

// What the compiler says; empty when it is content.
std::string errors_of(std::string_view json, const Types& types = {}) {
  Errors errors;
  const auto type = type_of(json, errors);
  EXPECT_TRUE(type) << to_text(errors);
  const auto schema = Schema::compile(*type, types, "$", errors);
  EXPECT_EQ(schema.has_value(), errors.empty());
  return to_text(errors);
}

TEST(Schema, references_lead_to_the_named_types) {
  const Types types{{"t/Id@1", R"({"uuid":{}})"},
                    {"t/Ids@1", R"({"list":{"ref":"t/Id@1"}})"},
                    {"t/Pair@1", R"({"record":{"a":{"ref":"t/Ids@1"},"b":{"ref":"t/Ids@1"}}})"}};
  EXPECT_EQ(errors_of(R"({"ref":"t/Pair@1"})", types), "");
  const Schema schema = schema_of(R"({"ref":"t/Pair@1"})", types);
  EXPECT_EQ(encode(schema, R"({"a":[],"b":["x"]})"),
            "$.b[0]: not a uuid (8-4-4-4-12 hexadecimal digits)");
}

TEST(Schema, all_that_is_wrong_is_reported) {
  EXPECT_EQ(errors_of(R"({"record":{"a":{"ref":"t/No@1"},"b":{"list":{"ref":"t/Nor@1"}},
                                    "c":{"option":{"option":{"nat":{}}}}}})"),
            "$.record.a: no schema named 't/No@1'\n"
            "$.record.b.list: no schema named 't/Nor@1'\n"
            "$.record.c: an option of option cannot tell absent from null\n");
}

TEST(Schema, recursion_is_refused) {
  const Types types{{"t/List@1", R"({"option":{"record":{"next":{"ref":"t/List@1"}}}})"},
                    {"t/A@1", R"({"list":{"ref":"t/B@1"}})"},
                    {"t/B@1", R"({"variant":{"X":{"ref":"t/A@1"}}})"},
                    {"t/Self@1", R"({"ref":"t/Self@1"})"}};
  EXPECT_EQ(errors_of(R"({"ref":"t/List@1"})", types),
            "$(t/List@1).option.record.next: recursive type: t/List@1 contains itself\n");
  EXPECT_EQ(errors_of(R"({"ref":"t/A@1"})", types),
            "$(t/A@1).list(t/B@1).variant.X: recursive type: t/A@1 contains itself\n");
  EXPECT_EQ(errors_of(R"({"ref":"t/Self@1"})", types),
            "$(t/Self@1): recursive type: t/Self@1 contains itself\n");
}

TEST(Schema, an_option_of_what_may_be_null_is_refused) {
  const Types types{{"t/Maybe@1", R"({"option":{"nat":{}}})"}, {"t/Unit@1", R"({"unit":{}})"}};
  EXPECT_EQ(errors_of(R"({"option":{"option":{"nat":{}}}})"),
            "$: an option of option cannot tell absent from null\n");
  EXPECT_EQ(errors_of(R"({"option":{"unit":{}}})"),
            "$: an option of unit cannot tell absent from null\n");
  EXPECT_EQ(errors_of(R"({"option":{"ref":"t/Maybe@1"}})", types),
            "$: an option of option cannot tell absent from null\n");
  EXPECT_EQ(errors_of(R"({"option":{"ref":"t/Unit@1"}})", types),
            "$: an option of unit cannot tell absent from null\n");
  EXPECT_EQ(errors_of(R"({"list":{"option":{"list":{"option":{"nat":{}}}}}})"), "");
}

TEST(Schema, a_type_that_is_used_often_is_compiled_once) {
  // Each level uses the one below twice: unshared, this would be 2^60 nodes.
  Types types{{"t/L0@1", R"({"nat":{}})"}};
  for (int i = 1; i <= 60; ++i) {
    Errors errors;
    const std::string below = R"({"ref":"t/L)" + std::to_string(i - 1) + R"(@1"})";
    types.add("t/L" + std::to_string(i) + "@1",
              *type_of(R"({"record":{"a":)" + below + R"(,"b":)" + below + "}}", errors));
  }
  EXPECT_EQ(errors_of(R"({"ref":"t/L60@1"})", types), "");
}

TEST(Schema, references_may_not_lead_on_for_ever) {
  Types types{{"t/L0@1", R"({"nat":{}})"}};
  for (int i = 1; i <= 300; ++i) {
    types.add("t/L" + std::to_string(i) + "@1",
              Type{TypeKind::kRef, "t/L" + std::to_string(i - 1) + "@1", {}, {}});
  }
  EXPECT_EQ(errors_of(R"({"ref":"t/L200@1"})", types), "");
  const std::string errors = errors_of(R"({"ref":"t/L300@1"})", types);
  EXPECT_NE(errors.find("types nest deeper than 256\n"), std::string::npos) << errors;
}

TEST(Schema, members_are_found_by_name) {
  const Schema schema = schema_of(
      R"({"record":{"a":{"nat":{}},"ab":{"nat":{}},"abcd":{"nat":{}},"abcdefgh":{"nat":{}},
                    "abcdefghi":{"option":{"nat":{}}}}})");
  const auto& root = schema.root();
  ASSERT_EQ(root.member_count, 5u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(schema.find_member(root, schema.member(root, i).name), i);
  }
  for (const std::string_view name : {"", "b", "A", "abc", "abcdefgj", "abcdefghij"}) {
    EXPECT_FALSE(schema.find_member(root, name)) << name;
  }
  EXPECT_TRUE(schema.member(root, 4).optional);
  EXPECT_FALSE(schema.member(root, 0).optional);
}

}  // namespace
}  // namespace holdfast::codec
