// SPDX-License-Identifier: Apache-2.0
#include "errors/translate.h"

#include <gtest/gtest.h>

#include <utility>

namespace holdfast::errors {
namespace {

TEST(Errors, code_of_base_comes_back_as_itself) {
  using Inside = base::ErrorCode;
  using Outside = ErrorCode;
  for (const auto& [in, out] : {std::pair{Inside::kInvalid, Outside::kInvalid},
                                {Inside::kTooLarge, Outside::kTooLarge},
                                {Inside::kNotFound, Outside::kNotFound},
                                {Inside::kConflict, Outside::kConflict},
                                {Inside::kUnavailable, Outside::kUnavailable},
                                {Inside::kIo, Outside::kIo},
                                {Inside::kEnded, Outside::kEnded},
                                {Inside::kCorrupt, Outside::kCorrupt}}) {
    EXPECT_EQ(outside(in), out) << base::to_string(in);
    EXPECT_EQ(inside(out), in) << base::to_string(in);
  }
}

TEST(Errors, missing_file_of_ours_is_no_fault_of_the_caller) {
  const Error told = outside(base::Error(base::ErrorCode::kNotFound, "w/journal/1.log", "open")
                                 .from(base::Error::Origin::kSystem));
  EXPECT_EQ(told.code, ErrorCode::kIo);
  EXPECT_TRUE(told.names_files);
  const Error named = outside(base::Error(base::ErrorCode::kNotFound, "record 7", "trimmed"));
  EXPECT_EQ(named.code, ErrorCode::kNotFound);
  EXPECT_FALSE(named.names_files);
}

TEST(Errors, what_timed_out_may_be_tried_again) {
  EXPECT_EQ(inside(ErrorCode::kTimedOut), base::ErrorCode::kUnavailable);
}

TEST(Errors, place_is_in_the_message_of_a_program) {
  const Error told = outside(base::Error(base::ErrorCode::kIo, "a/b", "cannot be read"));
  EXPECT_EQ(told.code, ErrorCode::kIo);
  EXPECT_EQ(told.message, "a/b: cannot be read");
  const base::Error back = inside(told);
  EXPECT_EQ(back.code(), base::ErrorCode::kIo);
  EXPECT_EQ(back.to_string(), "a/b: cannot be read");
}

}  // namespace
}  // namespace holdfast::errors
