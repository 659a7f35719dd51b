// SPDX-License-Identifier: Apache-2.0
#include "node/world_clock.h"

#include <gtest/gtest.h>

#include <limits>

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
  // Lets so much time pass, as if somebody looked every second.
  static void watch(WorldClock& clock, env::ManualClock& by, std::int64_t seconds) {
    for (; seconds > 0; --seconds) {
      const std::uint64_t before = clock.now_ns();
      by.advance_ns(std::int64_t{kSecondNs});
      ASSERT_GT(clock.now_ns(), before) << "neither back nor still";
    }
  }
  static constexpr std::int64_t kDay = 86'400;
  env::ManualClock clock_;
};

TEST_F(WorldClockTest, is_the_wall_clock_where_nothing_happens_to_that) {
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), 100 * kSecondNs);
  advance(7);
  EXPECT_EQ(clock.now_ns(), 107 * kSecondNs);
  advance(30 * kDay);  // nobody looked, or the machine slept
  EXPECT_EQ(clock.now_ns(), (107 + 30 * kDay) * kSecondNs);
  EXPECT_EQ(clock.ahead_ns(), 0);
  EXPECT_EQ(clock.take_news(), "");
}

TEST_F(WorldClockTest, a_small_step_is_taken_at_once) {
  WorldClock clock(clock_, 0);
  clock.now_ns();
  jump(60);
  EXPECT_EQ(clock.now_ns(), 160 * kSecondNs);
  EXPECT_EQ(clock.take_news(), "");
}

TEST_F(WorldClockTest, one_wrong_reading_does_not_take_the_world_ahead) {
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), 100 * kSecondNs);
  jump(8 * kDay);
  advance(1);
  EXPECT_EQ(clock.now_ns(), 101 * kSecondNs);
  EXPECT_EQ(clock.ahead_ns(), -8 * kDay * std::int64_t{kSecondNs});
  EXPECT_EQ(clock.take_news(),
            "the wall clock was set by 691200 s; the world takes that when it has lasted 300 s");
  advance(200);
  EXPECT_EQ(clock.now_ns(), 301 * kSecondNs);
  jump(-8 * kDay);
  advance(1);
  EXPECT_EQ(clock.now_ns(), 302 * kSecondNs);
  EXPECT_EQ(clock.ahead_ns(), 0);
  EXPECT_EQ(clock.take_news(), "the wall clock is right again; its step was not taken");
}

TEST_F(WorldClockTest, a_large_step_that_lasts_is_taken) {
  WorldClock clock(clock_, 0);
  clock.now_ns();
  jump(8 * kDay);
  watch(clock, clock_, 299);
  EXPECT_EQ(clock.now_ns(), 399 * kSecondNs);
  advance(2);  // it was seen for the first time a second after it was made
  EXPECT_EQ(clock.now_ns(), (401 + 8 * kDay) * kSecondNs);
  EXPECT_EQ(clock.take_news(), "the world takes the step of the wall clock by 691200 s");
  EXPECT_EQ(clock.ahead_ns(), 0);
}

TEST_F(WorldClockTest, a_clock_that_is_set_again_and_again_has_not_lasted) {
  WorldClock clock(clock_, 0);
  clock.now_ns();
  for (int i = 0; i < 20; ++i) {
    jump(i % 2 == 0 ? 8 * kDay : 2 * kDay);
    watch(clock, clock_, 200);
  }
  EXPECT_EQ(clock.now_ns(), 4100 * kSecondNs);
}

TEST_F(WorldClockTest, tells_no_more_than_a_line_a_minute) {
  WorldClock clock(clock_, 0);
  int lines = 0;
  for (int i = 0; i < 600; ++i) {
    jump(i % 2 == 0 ? kDay : -kDay);
    watch(clock, clock_, 1);
    if (!clock.take_news().empty()) ++lines;
  }
  EXPECT_EQ(lines, 10);
}

TEST_F(WorldClockTest, a_wall_clock_that_is_set_back_is_met_again_slowly) {
  WorldClock clock(clock_, 0);
  clock.now_ns();
  jump(-50);  // small: it is right
  EXPECT_EQ(clock.now_ns(), 100 * kSecondNs) << "not back";
  advance(8);
  EXPECT_EQ(clock.now_ns(), 107 * kSecondNs) << "an eighth slower, and not still";
  advance(8 * 49);
  EXPECT_EQ(clock.now_ns(), 450 * kSecondNs);
  EXPECT_EQ(clock.now_ns(), static_cast<std::uint64_t>(clock_.wall_ns()));
  advance(5);
  EXPECT_EQ(clock.now_ns(), 455 * kSecondNs) << "and as fast as before";
}

TEST_F(WorldClockTest, a_world_that_is_days_ahead_says_so_and_comes_back) {
  WorldClock clock(clock_, (100 + 8 * kDay) * kSecondNs);  // the clock was wrong in another life
  EXPECT_EQ(clock.now_ns(), (100 + 8 * kDay) * kSecondNs);
  EXPECT_EQ(clock.ahead_ns(), 8 * kDay * std::int64_t{kSecondNs});
  EXPECT_EQ(clock.take_news(),
            "the world is 691200 s ahead of the wall clock, and goes an eighth slower until they "
            "meet");
  for (int day = 0; day < 63; ++day) advance(kDay), clock.now_ns();
  EXPECT_EQ(clock.ahead_ns(), kDay / 8 * std::int64_t{kSecondNs});
  EXPECT_EQ(clock.take_news(), "");
  advance(kDay);
  clock.now_ns();
  EXPECT_EQ(clock.ahead_ns(), 0);
  EXPECT_EQ(clock.take_news(), "the world has met the wall clock");
}

TEST_F(WorldClockTest, a_large_step_back_has_to_last_as_well) {
  WorldClock clock(clock_, 0);
  clock.now_ns();
  jump(-99);
  advance(80);
  EXPECT_EQ(clock.now_ns(), 180 * kSecondNs);
  jump(99);
  advance(1);
  EXPECT_EQ(clock.now_ns(), 181 * kSecondNs);
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
  WorldClock clock(clock_, 140 * kSecondNs);
  EXPECT_EQ(clock.now_ns(), 140 * kSecondNs);
  advance(8);
  EXPECT_EQ(clock.now_ns(), 147 * kSecondNs);
}

TEST_F(WorldClockTest, what_passed_before_is_taken_whole) {
  clock_.set_wall_ns(40 * kDay * std::int64_t{kSecondNs});
  WorldClock clock(clock_, 500 * kSecondNs);
  EXPECT_EQ(clock.now_ns(), 40 * kDay * kSecondNs);
}

TEST_F(WorldClockTest, a_wall_clock_before_1970_is_none) {
  clock_.set_wall_ns(-5);
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), 0u);
  clock_.set_wall_ns(-3 * std::int64_t{kSecondNs});
  advance(3);
  EXPECT_EQ(clock.now_ns(), 3 * kSecondNs);
}

TEST_F(WorldClockTest, the_end_of_time_is_no_problem) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  clock_.set_wall_ns(kEnd);
  WorldClock clock(clock_, 0);
  EXPECT_EQ(clock.now_ns(), static_cast<std::uint64_t>(kEnd));
  clock_.set_wall_ns(0);
  watch(clock, clock_, 10);
  clock_.set_wall_ns(kEnd - 20 * std::int64_t{kSecondNs});
  watch(clock, clock_, 10);
}

// What an alarm was set to.
struct Noted : env::Alarm {
  bool set(std::int64_t wall_ns, std::int64_t since_boot_ns) override {
    wall = wall_ns;
    since_boot = since_boot_ns;
    return true;
  }
  std::int64_t wall = 0;
  std::int64_t since_boot = 0;
};

TEST_F(WorldClockTest, an_alarm_rings_when_the_time_has_come_and_not_much_earlier) {
  for (const std::int64_t ahead : {0, 5, 1000}) {
    for (const std::int64_t left : {1, 30, 700, 100'000}) {
      WorldClock clock(clock_, static_cast<std::uint64_t>(clock_.wall_ns()) +
                                   static_cast<std::uint64_t>(ahead) * kSecondNs);
      Noted alarm;
      const std::uint64_t at = clock.now_ns() + static_cast<std::uint64_t>(left) * kSecondNs;
      ASSERT_TRUE(clock.set(alarm, at));
      clock_.advance_ns(alarm.since_boot - clock_.since_boot_ns());
      EXPECT_GE(clock.now_ns(), at) << ahead << " " << left;
      EXPECT_LE(clock.now_ns(), at + 2) << ahead << " " << left;
      EXPECT_FALSE(clock.set(alarm, at));
    }
  }
}

TEST_F(WorldClockTest, an_alarm_does_not_ring_again_and_again_for_a_step_that_is_not_taken) {
  WorldClock clock(clock_, 0);
  Noted alarm;
  const std::uint64_t at = clock.now_ns() + 1000 * kSecondNs;
  ASSERT_TRUE(clock.set(alarm, at));
  jump(8 * kDay);
  ASSERT_TRUE(clock.set(alarm, at)) << "it is not due";
  EXPECT_GT(alarm.wall, clock_.wall_ns());
  EXPECT_EQ(alarm.since_boot, clock_.since_boot_ns() + 300 * std::int64_t{kSecondNs});
  clock_.advance_ns(alarm.since_boot - clock_.since_boot_ns());
  EXPECT_FALSE(clock.set(alarm, at)) << "it has lasted";
}

}  // namespace
}  // namespace holdfast::node
