// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

TEST(Simulation, keeps_every_promise) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    ASSERT_EQ(simulate({.seed = seed}).violation(), "") << "sim --seed " << seed;
}

// Effects of the process before had all the room, and were stopped without a receipt.
TEST(Simulation, what_waits_for_room_is_begun_when_there_is_some) {
  EXPECT_EQ(simulate({.seed = 913318, .steps = 346}).violation(), "");
}

TEST(Simulation, the_same_seed_leaves_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(simulate({.seed = seed}).trace(), simulate({.seed = seed}).trace()) << seed;
  EXPECT_NE(simulate({.seed = 1}).trace(), simulate({.seed = 2}).trace());
}

}  // namespace
}  // namespace holdfast::sim
