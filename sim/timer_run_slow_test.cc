// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/timer_run.h"

namespace holdfast::sim {
namespace {

TEST(TimerRun, a_hundred_thousand_timers_ring_once_each_in_time_and_never_early) {
  const Report report = run_timers({.seed = 1, .timers = 100'000});
  EXPECT_EQ(report.violation(), "");
  const auto count = [&](const char* what) {
    const auto found = report.counts().find(what);
    return found == report.counts().end() ? 0 : found->second;
  };
  EXPECT_EQ(count("a timer rings"), 100'000u);
  EXPECT_GT(count("the wall clock jumps ahead"), 10u);
  EXPECT_GT(count("the wall clock jumps back"), 10u);
  EXPECT_GT(count("the process dies"), 3u);
}

}  // namespace
}  // namespace holdfast::sim
