// SPDX-License-Identifier: Apache-2.0
// Runs of a step workflow that wait for a person: what they cost in memory and on disk, how soon
// they are there again after kill -9, and how long it takes to wake one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/bench_crowd.h"

namespace holdfast::cli {

struct ParkedFigures {
  CrowdFigures crowd;
  std::uint64_t recovered = 0;  // that wait as before
  std::uint64_t woken = 0;
  // From the call that sends one its answer until its result is known to be durable; one at a time.
  double wake_p50_us = 0;
  double wake_p99_us = 0;
  double wake_max_us = 0;
  // The same, by turns, of runs that have just begun and never left memory.
  double new_p50_us = 0;
  double new_p99_us = 0;
};

// Wakes so many of them, anywhere. To be called while this process has one thread: it forks.
base::Result<ParkedFigures> bench_parked(const std::string& folder, std::uint64_t count,
                                         std::uint64_t wakes);

}  // namespace holdfast::cli
