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
  for (const char* rare : {"a bit of a batch flips that the index has seen",
                           "a bit of a marked batch flips",
                           "a call to the disk fails",
                           "a cascade goes on in another tick",
                           "an instance is paused as memory ran out",
                           "a receipt comes twice",
                           "a receipt does not fit",
                           "a snapshot is put off",
                           "blobs are collected",
                           "blobs are written ahead of a snapshot",
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
                           "somebody pins records",
                           "the disk is full",
                           "the lock is removed",
                           "the node ends itself",
                           "the node takes nothing new",
                           "the power is cut",
                           "the power is cut inside a step",
                           "the process dies",
                           "the process stops in order",
                           "the wall clock jumps",
                           "there is room again",
                           "a parked run is woken by a receipt",
                           "a parked run is woken by a timer",
                           "a parked run is woken by an event",
                           "a part of a fan-out hears what it waited for",
                           "a part of a fan-out waits in vain",
                           "a person does not answer in time",
                           "a person is heard",
                           "a run cancels itself",
                           "a run is woken by a receipt while it is being put away",
                           "a run is woken by a timer while it is being put away",
                           "a run is woken by an event while it is being put away",
                           "a run of a step is given up",
                           "a run of a step is out of date",
                           "a run of steps fails",
                           "a run of steps is cancelled",
                           "a run of steps is completed",
                           "a run of steps is idle",
                           "a run of steps takes too long",
                           "a step is cancelled by another",
                           "a step is to be tried again later",
                           "a step that may be cancelled is not",
                           "a step waits several times",
                           "a stream is not there any more",
                           "a work item waits for a slot",
                           "an error handler helps",
                           "an event finds nobody who waits for it"}) {
    EXPECT_GT(counts[rare], 0u) << rare;
  }
}

}  // namespace
}  // namespace holdfast::sim
