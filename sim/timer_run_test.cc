// SPDX-License-Identifier: Apache-2.0
#include "sim/timer_run.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

TEST(TimerRun, timers_ring_once_each_in_time_and_never_early) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(run_timers({.seed = seed, .timers = 2000}).violation(), "")
        << "sim --timers 2000 --seed " << seed;
}

}  // namespace
}  // namespace holdfast::sim
