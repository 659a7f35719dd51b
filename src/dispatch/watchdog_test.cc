// SPDX-License-Identifier: Apache-2.0
#include "dispatch/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::dispatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kStart = 1000 * kSecondNs;

// Looks every second, as a program that runs does.
struct Clock {
  Watchdog& watchdog;
  std::uint64_t now = kStart;
  std::vector<std::string> silent = {};
  std::vector<std::string> lost = {};

  void pass(std::uint64_t seconds) {
    silent.clear();
    lost.clear();
    for (std::uint64_t i = 0; i < seconds; ++i) {
      now += kSecondNs;
      auto verdicts = watchdog.look(now);
      silent.insert(silent.end(), verdicts.silent.begin(), verdicts.silent.end());
      lost.insert(lost.end(), verdicts.lost.begin(), verdicts.lost.end());
    }
  }
};

TEST(Watchdog, a_silent_worker_is_lost_after_ttl_and_grace_and_once) {
  Watchdog watchdog;
  Clock clock{watchdog};
  EXPECT_TRUE(watchdog.heard("w", clock.now));
  EXPECT_FALSE(watchdog.heard("w", clock.now));
  clock.pass(29);
  EXPECT_THAT(clock.silent, IsEmpty());
  EXPECT_TRUE(watchdog.is_live("w"));
  clock.pass(1);
  EXPECT_THAT(clock.silent, ElementsAre("w"));
  EXPECT_FALSE(watchdog.is_live("w"));
  clock.pass(29);
  EXPECT_THAT(clock.lost, IsEmpty());
  clock.pass(1);
  EXPECT_THAT(clock.lost, ElementsAre("w"));
  clock.pass(1000);
  EXPECT_THAT(clock.lost, IsEmpty());
}

TEST(Watchdog, a_returning_worker_clears_everything) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.heard("w", clock.now);
  clock.pass(59);
  EXPECT_TRUE(watchdog.heard("w", clock.now)) << "it was silent";
  clock.pass(29);
  EXPECT_THAT(clock.silent, IsEmpty());
  EXPECT_THAT(clock.lost, IsEmpty());
}

TEST(Watchdog, a_worker_that_holds_work_after_a_restart_has_the_larger_grace) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.expect("holds", true, clock.now);
  watchdog.expect("idle", false, clock.now);
  clock.pass(60);
  EXPECT_THAT(clock.lost, ElementsAre("idle"));
  clock.pass(59);
  EXPECT_THAT(clock.lost, IsEmpty());
  clock.pass(1);
  EXPECT_THAT(clock.lost, ElementsAre("holds"));
}

TEST(Watchdog, after_it_was_heard_a_worker_has_the_usual_grace_again) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.expect("w", true, clock.now);
  watchdog.heard("w", clock.now);
  clock.pass(60);
  EXPECT_THAT(clock.lost, ElementsAre("w"));
}

TEST(Watchdog, a_rehydration_grace_that_is_shorter_than_the_usual_one_does_not_count) {
  Watchdog watchdog({.rehydration_ns = 5 * kSecondNs});
  Clock clock{watchdog};
  watchdog.expect("w", true, clock.now);
  clock.pass(59);
  EXPECT_THAT(clock.lost, IsEmpty());
}

TEST(Watchdog, time_in_which_the_program_did_not_run_counts_against_nobody) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.heard("w", clock.now);
  clock.pass(10);
  clock.now += 3600 * kSecondNs;  // it was stopped
  clock.pass(1);
  EXPECT_THAT(clock.silent, IsEmpty());
  clock.pass(20);
  EXPECT_THAT(clock.silent, ElementsAre("w"));
}

TEST(Watchdog, a_worker_that_is_heard_first_after_a_pause_has_its_usual_time) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.heard("w", clock.now);
  clock.pass(10);
  clock.now += 3600 * kSecondNs;  // it was stopped
  watchdog.heard("w", clock.now);
  EXPECT_TRUE(watchdog.look(clock.now).after_pause);
  EXPECT_FALSE(watchdog.look(clock.now).after_pause);
  clock.pass(31);
  EXPECT_THAT(clock.silent, ElementsAre("w"));
}

TEST(Watchdog, a_worker_that_left_is_not_watched) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.heard("w", clock.now);
  watchdog.forget("w");
  clock.pass(1000);
  EXPECT_THAT(clock.silent, IsEmpty());
  EXPECT_THAT(clock.lost, IsEmpty());
}

TEST(Watchdog, a_loss_that_could_not_be_recorded_is_told_again_unless_the_worker_was_heard) {
  Watchdog watchdog;
  Clock clock{watchdog};
  watchdog.heard("a", clock.now);
  watchdog.heard("b", clock.now);
  clock.pass(60);
  EXPECT_THAT(clock.lost, ElementsAre("a", "b"));
  watchdog.heard("b", clock.now);
  watchdog.try_again("a", clock.now, 5 * kSecondNs);
  watchdog.try_again("b", clock.now, 5 * kSecondNs);
  clock.pass(5);
  EXPECT_THAT(clock.lost, ElementsAre("a"));
}

}  // namespace
}  // namespace holdfast::dispatch
