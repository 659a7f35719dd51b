// SPDX-License-Identifier: Apache-2.0
#include "gateway/problem.h"

#include <gtest/gtest.h>

#include "gateway/descriptors.h"

namespace holdfast::gateway {
namespace {

unsigned status_of(ErrorCode code, Condition condition) {
  return kind_of(problem_of(Error{code, "w/journal/1.log: open"}, condition).code).status;
}

TEST(Problem, what_cannot_be_read_or_written_is_worth_another_try) {
  EXPECT_EQ(status_of(ErrorCode::kIo, Condition::kReady), 503u);
  EXPECT_EQ(status_of(ErrorCode::kNotFound, Condition::kReady), 404u);
  EXPECT_EQ(status_of(ErrorCode::kUnavailable, Condition::kReady), 429u);
  EXPECT_EQ(status_of(ErrorCode::kUnavailable, Condition::kDiskFull), 507u);
  EXPECT_EQ(status_of(ErrorCode::kUnavailable, Condition::kNoFiles), 503u);
}

// After a failed sync every answer is what ended the engine.
TEST(Problem, engine_that_has_ended_answers_with_503_and_names_no_files) {
  for (const ErrorCode code :
       {ErrorCode::kNotFound, ErrorCode::kIo, ErrorCode::kCorrupt, ErrorCode::kUnavailable}) {
    EXPECT_EQ(status_of(code, Condition::kEnded), 503u);
    const Problem problem =
        problem_of(Error{code, "w/journal/1.log: fdatasync"}, Condition::kEnded);
    EXPECT_EQ(problem.detail.find("journal/"), std::string::npos);
  }
}

TEST(Descriptors, engine_has_its_share_before_connections_do) {
  EXPECT_EQ(connections_within(1'000'000, 4096), 4096u);
  EXPECT_EQ(connections_within(1024, 4096), 704u);
  EXPECT_EQ(connections_within(256, 4096), 128u);
  EXPECT_EQ(connections_within(1024, 100), 100u);
}

}  // namespace
}  // namespace holdfast::gateway
