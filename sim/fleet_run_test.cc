// SPDX-License-Identifier: Apache-2.0
#include "sim/fleet_run.h"

#include <gtest/gtest.h>

#include <map>

namespace holdfast::sim {
namespace {

TEST(FleetRun, tasks_count_once_whoever_dies_and_whatever_the_network_does) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Report report = run_fleet({.seed = seed});
    ASSERT_EQ(report.violation(), "") << "sim --fleet " << seed;
    for (const auto& [what, times] : report.counts()) counts[what] += times;
  }
  // A rare thing that never takes place is not tested.
  for (const char* what : {"a worker dies",
                           "a worker stands still",
                           "the network is cut",
                           "a request is doubled",
                           "a request is lost",
                           "an answer is lost",
                           "a clock jumps",
                           "a wall clock jumps",
                           "the server dies",
                           "the disk is full",
                           "records are lost with a crash",
                           "a record survives that nobody was told of",
                           "a worker is declared lost",
                           "a worker drains",
                           "a worker leaves",
                           "a worker is cordoned",
                           "a process finds results in its outbox",
                           "a worker is told to drop what it holds",
                           "a task fails",
                           "a task is lost while it runs",
                           "a task is given back for nothing",
                           "a task is asked to stop",
                           "a task runs more than once",
                           "a snapshot is taken",
                           "a graph is cancelled"})
    EXPECT_GT(counts[what], 0u) << what;
}

TEST(FleetRun, the_same_seed_gives_the_same_run) {
  EXPECT_EQ(run_fleet({.seed = 7}).trace(), run_fleet({.seed = 7}).trace());
}

}  // namespace
}  // namespace holdfast::sim
