// SPDX-License-Identifier: Apache-2.0
#include "engine/durable_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::engine {
namespace {

class DurableWatchTest : public ::testing::Test {
 protected:
  bool add(std::uint64_t number, store::RecordNumber record) {
    return watch_.add(number, record,
                      ticket<std::uint64_t>([this, number](Result<std::uint64_t> told) {
                        told_.push_back(std::to_string(number) +
                                        (told ? " at " + std::to_string(*told) : " let go"));
                      }));
  }

  std::vector<std::string> told_;
  DurableWatch watch_;
};

TEST_F(DurableWatchTest, tells_each_when_its_record_is_durable_and_nobody_else) {
  for (const std::uint64_t number : {1u, 2u, 3u}) ASSERT_TRUE(add(number, 10 * (4 - number)));
  watch_.became_durable(9);
  EXPECT_TRUE(told_.empty());
  watch_.became_durable(20);
  EXPECT_THAT(told_, ::testing::ElementsAre("3 at 20", "2 at 20"));
  watch_.became_durable(30);
  EXPECT_EQ(told_.back(), "1 at 30");
}

TEST_F(DurableWatchTest, the_next_is_told_in_time_when_the_first_is_removed) {
  ASSERT_TRUE(add(1, 5));
  ASSERT_TRUE(add(2, 7));
  watch_.remove(1);
  watch_.remove(1);
  EXPECT_THAT(told_, ::testing::ElementsAre("1 let go"));
  watch_.became_durable(7);
  EXPECT_EQ(told_.back(), "2 at 7");
}

TEST_F(DurableWatchTest, as_many_as_may_wait_come_and_go_in_any_order) {
  for (std::uint64_t number = 0; number < DurableWatch::kMost; ++number)
    ASSERT_TRUE(add(number, 1 + number * 7919 % DurableWatch::kMost));
  EXPECT_FALSE(add(DurableWatch::kMost, 1)) << "no more";
  told_.clear();
  for (std::uint64_t number = 0; number < DurableWatch::kMost; number += 2) watch_.remove(number);
  EXPECT_EQ(told_.size(), DurableWatch::kMost / 2);
  watch_.became_durable(DurableWatch::kMost);
  EXPECT_EQ(told_.size(), DurableWatch::kMost);
  watch_.close();
  EXPECT_FALSE(add(1, 1));
}

}  // namespace
}  // namespace holdfast::engine
