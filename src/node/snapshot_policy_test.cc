// SPDX-License-Identifier: Apache-2.0
#include "node/snapshot_policy.h"

#include <gtest/gtest.h>

namespace holdfast::node {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

SnapshotPolicy by_cost() {
  return {.every = 1000, .share = 0.1, .replay_bound_ns = 6 * kSecondNs, .idle_every = 10};
}

TEST(SnapshotPolicy, without_a_share_the_number_of_records_decides) {
  SnapshotTiming timing({.every = 10}, 4, 0);
  timing.reduced(5, kSecondNs, kSecondNs);
  EXPECT_FALSE(timing.is_due());
  timing.reduced(1, kSecondNs, 2 * kSecondNs);
  EXPECT_TRUE(timing.is_due());
  EXPECT_FALSE(timing.is_overdue());
  timing.begun(2 * kSecondNs);
  EXPECT_FALSE(timing.is_due());
  timing.reduced(10, 0, 2 * kSecondNs);
  EXPECT_TRUE(timing.is_late());
  EXPECT_FALSE(timing.is_far_too_late());
  timing.reduced(10, 0, 2 * kSecondNs);
  EXPECT_TRUE(timing.is_far_too_late());
}

TEST(SnapshotPolicy, none_is_due_when_none_is_wanted) {
  SnapshotTiming timing({.every = 0, .share = 0.1, .replay_bound_ns = 1}, 1'000'000, 0);
  timing.reduced(1'000'000, kSecondNs, kSecondNs);
  timing.rested();
  EXPECT_FALSE(timing.is_due());
  EXPECT_FALSE(timing.is_late());
}

TEST(SnapshotPolicy, the_next_one_waits_until_the_last_one_has_paid_off) {
  SnapshotTiming timing(by_cost(), 0, 0);
  timing.reduced(1000, 1000, 1000);
  ASSERT_TRUE(timing.is_due()) << "the first one has nothing to pay off";
  timing.add_cost(kSecondNs / 4);
  timing.begun(kSecondNs);
  timing.add_cost(kSecondNs / 4);  // to finish it
  timing.listed();
  timing.reduced(5000, 1000, 5 * kSecondNs);
  EXPECT_FALSE(timing.is_due()) << "half a second of four";
  timing.reduced(1, 1000, 6 * kSecondNs);
  EXPECT_TRUE(timing.is_due()) << "half a second of five";
}

TEST(SnapshotPolicy, what_would_take_long_to_replay_does_not_wait_for_that) {
  SnapshotTiming timing(by_cost(), 0, 0);
  timing.add_cost(100 * kSecondNs);
  timing.begun(0);
  timing.listed();
  timing.reduced(10, 2 * kSecondNs - 1, kSecondNs);
  EXPECT_FALSE(timing.is_due());
  timing.reduced(1, 1, kSecondNs);
  EXPECT_TRUE(timing.is_due()) << "a third of the bound";
  EXPECT_FALSE(timing.is_overdue());
}

TEST(SnapshotPolicy, only_a_listed_snapshot_makes_a_restart_shorter) {
  SnapshotTiming timing(by_cost(), 0, 0);
  timing.reduced(10, 4 * kSecondNs, kSecondNs);
  timing.begun(kSecondNs);
  timing.reduced(10, kSecondNs, kSecondNs);
  EXPECT_EQ(timing.replay_ns(), 5 * kSecondNs);
  EXPECT_FALSE(timing.is_late());
  timing.reduced(10, kSecondNs, kSecondNs);
  EXPECT_TRUE(timing.is_late()) << "it must be listed first";
  EXPECT_TRUE(timing.is_overdue());
  EXPECT_FALSE(timing.is_far_too_late());
  timing.listed();
  EXPECT_EQ(timing.replay_ns(), 2 * kSecondNs);
  EXPECT_FALSE(timing.is_late());
}

TEST(SnapshotPolicy, an_idle_world_takes_one_early_and_only_one) {
  SnapshotTiming timing(by_cost(), 0, 0);
  timing.reduced(9, 0, 0);
  timing.rested();
  EXPECT_FALSE(timing.is_due());
  timing.reduced(1, 0, 0);
  EXPECT_TRUE(timing.is_due());
  timing.begun(0);
  timing.listed();
  timing.reduced(10, 0, 0);
  EXPECT_FALSE(timing.is_due()) << "it has not rested again";
}

TEST(SnapshotPolicy, records_that_were_replayed_count_before_anything_is_measured) {
  const SnapshotTiming timing(by_cost(), 2'000'000, 0);
  EXPECT_EQ(timing.replay_ns(), 2'000'000u * static_cast<std::uint64_t>(kReplayNs));
  EXPECT_TRUE(timing.is_due());
}

}  // namespace
}  // namespace holdfast::node
