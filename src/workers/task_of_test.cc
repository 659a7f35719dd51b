// SPDX-License-Identifier: Apache-2.0
#include "workers/task_of.h"

#include <gtest/gtest.h>

#include "workers/identity.h"

namespace holdfast::workers {
namespace {

TEST(NextExecution, counts_failures_and_losses_and_the_last_one_does_not_return) {
  EXPECT_EQ(next_execution(1, 0, 3, true).attempt, 1u);
  EXPECT_EQ(next_execution(1, 0, 3, true).if_lost, IfLost::kReturn);
  EXPECT_EQ(next_execution(2, 0, 3, true).if_lost, IfLost::kReturn);
  EXPECT_EQ(next_execution(2, 1, 3, true).attempt, 3u);
  EXPECT_EQ(next_execution(2, 1, 3, true).if_lost, IfLost::kFail);
  EXPECT_EQ(next_execution(1, 0, 1, true).if_lost, IfLost::kFail);
}

TEST(NextExecution, without_a_limit_a_lost_task_always_returns) {
  EXPECT_EQ(next_execution(1, 1'000'000, std::nullopt, true).if_lost, IfLost::kReturn);
}

TEST(NextExecution, a_task_with_external_effects_does_not_run_again_when_it_is_lost) {
  EXPECT_EQ(next_execution(1, 0, 3, false).if_lost, IfLost::kFail);
}

TEST(LeaseDetail, devices_read_back) {
  for (const std::vector<std::uint32_t>& devices :
       {std::vector<std::uint32_t>{}, {0}, {3, 7, 4095}})
    EXPECT_EQ(devices_of(detail_of(devices)), devices);
}

TEST(Identity, the_same_node_name_and_secret_are_the_same_worker_and_no_others_are) {
  const std::string secret(64, 'a');
  EXPECT_EQ(worker_id("n", "w", secret), worker_id("n", "w", secret));
  EXPECT_NE(worker_id("n", "w", secret), worker_id("n", "w", std::string(64, 'b')));
  EXPECT_NE(worker_id("nw", "", secret), worker_id("n", "w", secret));
  EXPECT_NE(worker_id("n", "w", secret).find("w-"), std::string::npos);
  EXPECT_FALSE(same_hash(secret_hash(secret), secret_hash(std::string(64, 'b'))));
}

TEST(Identity, a_secret_is_64_lower_case_digits) {
  EXPECT_TRUE(is_secret(std::string(64, '0')));
  for (const std::string& bad : {std::string(63, '0'), std::string(65, '0'), std::string(64, 'A'),
                                 std::string(64, 'g'), std::string()})
    EXPECT_FALSE(is_secret(bad)) << bad;
}

}  // namespace
}  // namespace holdfast::workers
