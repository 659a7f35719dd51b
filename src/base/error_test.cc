// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::base {
namespace {

constexpr ErrorCode kCodes[] = {
    ErrorCode::kInvalid,     ErrorCode::kTooLarge, ErrorCode::kNotFound, ErrorCode::kConflict,
    ErrorCode::kUnavailable, ErrorCode::kIo,       ErrorCode::kCorrupt,
};

TEST(Error, names_its_place_before_its_message) {
  EXPECT_EQ(invalid("$.type", "is unknown").to_string(), "$.type: is unknown");
  EXPECT_EQ(Error(ErrorCode::kIo, "disk is gone").to_string(), "disk is gone");
}

TEST(Error, is_seen_from_outside_with_the_outer_place_first) {
  Error error = invalid("$.type", "is unknown").within("flow.json");
  EXPECT_EQ(error.where(), "flow.json: $.type");
  EXPECT_EQ(Error(ErrorCode::kIo, "is gone").within("disk").to_string(), "disk: is gone");
}

TEST(Error, every_code_has_its_own_word) {
  std::set<std::string_view> words;
  for (ErrorCode code : kCodes) words.insert(to_string(code));
  EXPECT_EQ(words.size(), std::size(kCodes));
}

TEST(Error, trying_again_helps_only_where_the_world_can_change) {
  std::set<ErrorCode> retryable;
  for (ErrorCode code : kCodes) {
    if (retry_may_help(code)) retryable.insert(code);
  }
  EXPECT_EQ(retryable, (std::set{ErrorCode::kConflict, ErrorCode::kUnavailable, ErrorCode::kIo}));
}

}  // namespace
}  // namespace holdfast::base
