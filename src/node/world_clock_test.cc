// SPDX-License-Identifier: Apache-2.0
#include "node/world_clock.h"

#include <gtest/gtest.h>

namespace holdfast::node {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

class WorldClockTest : public ::testing::Test {
 protected:
  WorldClockTest() { clock_.set_wall_ns(100 * kSecondNs); }
  void advance(std::int64_t seconds) { clock_.advance_ns(seconds * std::int64_t{kSecondNs}); }
  void jump(std::int64_t seconds) {
    clock_.set_wall_ns(clock_.wall_ns() + seconds * std::int64_t{kSecondNs});
  }
  env::ManualClock clock_;
};

TEST_F(WorldClockTest, is_the_wall_clock_where_nothing_happens_to_that) {
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), 100 * kSecondNs);
  advance(7);
  EXPECT_EQ(clock.now_ns(), 107 * kSecondNs);
  jump(1000);
  EXPECT_EQ(clock.now_ns(), 1107 * kSecondNs);
}

TEST_F(WorldClockTest, goes_on_when_the_wall_clock_is_set_back) {
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), 100 * kSecondNs);
  jump(3600);
  EXPECT_EQ(clock.now_ns(), 3700 * kSecondNs);
  jump(-3600);
  EXPECT_EQ(clock.now_ns(), 3700 * kSecondNs) << "not back";
  advance(10);
  EXPECT_EQ(clock.now_ns(), 3710 * kSecondNs) << "and not still";
  advance(3000);
  jump(1000);  // the wall clock says 4110, and is behind
  EXPECT_EQ(clock.now_ns(), 6710 * kSecondNs);
}

TEST_F(WorldClockTest, a_jump_that_nobody_saw_has_not_been) {
  WorldClock clock(clock_, 0);
  clock.now_ns();
  jump(3600);
  jump(-3600);
  advance(1);
  EXPECT_EQ(clock.now_ns(), 101 * kSecondNs);
}

TEST_F(WorldClockTest, goes_on_from_where_an_earlier_process_was) {
  WorldClock clock(clock_, 500 * kSecondNs);
  EXPECT_EQ(clock.now_ns(), 500 * kSecondNs);
  advance(3);
  EXPECT_EQ(clock.now_ns(), 503 * kSecondNs);
}

TEST_F(WorldClockTest, a_wall_clock_before_1970_is_none) {
  clock_.set_wall_ns(-5);
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), 0u);
  advance(3);
  EXPECT_EQ(clock.now_ns(), 3 * kSecondNs);
}

}  // namespace
}  // namespace holdfast::node
