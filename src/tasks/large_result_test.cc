// SPDX-License-Identifier: Apache-2.0
#include "tasks/large_result.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tasks/limits.h"
#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using codec::View;

base::Bytes text_of_size(std::size_t size) {
  return testing::part_of_value("\"" + std::string(size, 'x') + "\"");
}

TEST(LargeResult, reference_is_read_as_it_was_written) {
  const ResultReference written{base::sha256(base::as_bytes("result")), 70'000};
  const base::Bytes bytes = write_reference(written);
  const auto read = reference_of(View::of(bytes));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->hash, written.hash);
  EXPECT_EQ(read->bytes, 70'000u);
}

TEST(LargeResult, other_values_are_no_references) {
  const std::string hex(64, 'a');
  const std::vector<std::string> others = {
      "7",
      "[]",
      "{}",
      R"({"$blob":")" + hex + R"("})",
      R"({"$blob":")" + hex + R"(","bytes":"1"})",
      R"({"$blob":")" + hex + R"(","bytes":-1})",
      R"({"$blob":"aa","bytes":1})",
      R"({"$blob":")" + hex + R"(","bytes":1,"more":1})",
      R"({"$blob":")" + std::string(64, 'z') + R"(","bytes":1})"};
  for (const std::string& json : others) {
    const base::Bytes value = testing::part_of_value(json);
    EXPECT_FALSE(reference_of(View::of(value))) << json;
    EXPECT_FALSE(is_kept_as_blob(value)) << json;
  }
}

// Otherwise a task that returns what looks like a reference could name what is not its own.
TEST(LargeResult, what_looks_like_a_reference_is_kept_as_a_blob) {
  EXPECT_TRUE(is_kept_as_blob(write_reference({base::sha256({}), 0})));
}

TEST(LargeResult, size_decides) {
  EXPECT_FALSE(is_kept_as_blob(text_of_size(kMaxInlineResultBytes - 5)));
  EXPECT_TRUE(is_kept_as_blob(text_of_size(kMaxInlineResultBytes)));
}

}  // namespace
}  // namespace holdfast::tasks
