// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "sim/simulation.h"

namespace holdfast::sim {
namespace {

TEST(Simulation, keeps_every_promise_and_every_rare_thing_takes_place) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Report report = simulate({.seed = seed});
    ASSERT_EQ(report.violation(), "") << "sim --seed " << seed;
    for (const auto& [what, times] : report.counts()) counts[what] += times;
  }
  for (const char* rare : {"a call to the disk fails",
                           "a cascade goes on in another tick",
                           "a receipt comes twice",
                           "a receipt does not fit",
                           "a snapshot is put off",
                           "blobs are collected",
                           "a snapshot is taken",
                           "a torn end is cut off",
                           "a world is opened from a snapshot",
                           "an effect fails",
                           "an effect gives a sign of life",
                           "an effect is begun again",
                           "an effect is stopped",
                           "an effect waits for room",
                           "an event is sent again",
                           "an instance is forgotten",
                           "a stream cannot be read now",
                           "a stream comes to its end",
                           "a stream is not there any more",
                           "a stream is read",
                           "a stream is truncated",
                           "everything is replayed",
                           "history has trouble",
                           "the index was begun anew",
                           "opening fails",
                           "records are replayed",
                           "somebody interferes with an instance",
                           "the disk is full",
                           "the node ends itself",
                           "the node takes nothing new",
                           "the power is cut",
                           "the power is cut inside a step",
                           "the process dies",
                           "the process stops in order",
                           "the wall clock jumps",
                           "there is room again"}) {
    EXPECT_GT(counts[rare], 0u) << rare;
  }
}

}  // namespace
}  // namespace holdfast::sim
