// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include "env/posix_alarm.h"

namespace holdfast::env {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class PosixAlarmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = posix_alarm([this] {
      const std::lock_guard lock(mutex_);
      ++rings_;
      changed_.notify_all();
    });
    ASSERT_TRUE(made) << made.error().to_string();
    alarm_ = std::move(*made);
  }
  // Has `act` done before this time since boot has come; given again, with an alarm that nobody has
  // set and more time, where that was too little.
  template <class Act>
  void in_time(Act act) {
    for (std::int64_t ahead_ns = 20 * kMillisecond;; ahead_ns *= 2) {
      const std::int64_t at = clock_->since_boot_ns() + ahead_ns;
      act(at);
      if (clock_->since_boot_ns() < at) return;
      alarm_.reset();
      rings_ = 0;
      SetUp();
    }
  }
  bool rings(int times, std::chrono::milliseconds within) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [&] { return rings_ >= times; });
  }

  std::unique_ptr<Clock> clock_ = posix_clock();
  std::mutex mutex_;
  std::condition_variable changed_;
  int rings_ = 0;
  std::unique_ptr<Alarm> alarm_;
};

constexpr std::chrono::seconds kLong(60);

TEST_F(PosixAlarmTest, rings_when_the_wall_clock_says_so_and_not_before) {
  const std::int64_t at = clock_->wall_ns() + 50 * kMillisecond;
  ASSERT_TRUE(alarm_->set(at, kNever));
  ASSERT_TRUE(rings(1, kLong));
  EXPECT_GE(clock_->wall_ns(), at);
}

TEST_F(PosixAlarmTest, rings_when_so_much_time_has_passed_wherever_the_wall_clock_is) {
  const std::int64_t at = clock_->since_boot_ns() + 50 * kMillisecond;
  ASSERT_TRUE(alarm_->set(kNever, at));
  ASSERT_TRUE(rings(1, kLong));
  EXPECT_GE(clock_->since_boot_ns(), at);
}

TEST_F(PosixAlarmTest, a_time_that_has_come_rings_at_once_and_each_time_it_is_set) {
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(alarm_->set(i % 2 == 0 ? 5 : kNever, i % 2 == 0 ? kNever : 5));
    ASSERT_TRUE(rings(i, kLong)) << i;
  }
}

TEST_F(PosixAlarmTest, rings_once_and_for_what_it_was_set_to_last) {
  std::int64_t first = 0;
  in_time([&](std::int64_t at) {
    first = at;
    ASSERT_TRUE(alarm_->set(kNever, at));
    ASSERT_TRUE(alarm_->set(kNever, at + 1'000'000 * kMillisecond));
  });
  while (clock_->since_boot_ns() < first) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(rings(1, std::chrono::milliseconds(200)));
  ASSERT_TRUE(alarm_->set(kNever, clock_->since_boot_ns() + kMillisecond));
  ASSERT_TRUE(rings(1, kLong));
  EXPECT_FALSE(rings(2, std::chrono::milliseconds(200)));
}

TEST_F(PosixAlarmTest, the_same_time_again_is_kept) {
  const std::int64_t at = clock_->since_boot_ns() + 300 * kMillisecond;
  while (clock_->since_boot_ns() < at - 100 * kMillisecond) ASSERT_TRUE(alarm_->set(kNever, at));
  ASSERT_TRUE(rings(1, kLong));
  EXPECT_GE(clock_->since_boot_ns(), at);
}

TEST_F(PosixAlarmTest, one_that_is_gone_does_not_ring) {
  std::int64_t set_to = 0;
  in_time([&](std::int64_t at) {
    set_to = at;
    ASSERT_TRUE(alarm_->set(kNever, at));
    alarm_.reset();
  });
  while (clock_->since_boot_ns() < set_to)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool rang = rings(1, std::chrono::milliseconds(100));
  EXPECT_FALSE(rang);
}

}  // namespace
}  // namespace holdfast::env
