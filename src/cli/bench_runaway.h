// SPDX-License-Identifier: Apache-2.0
// What is left to others while some workflow runs away: how many of theirs are done, and how long
// it takes until a cancellation is answered.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace holdfast::cli {

struct RunawayOptions {
  std::string folder;
  // timers: one instance with 2560 timers that are always due. echo: 3000 instances that open one
  // effect after the other, answered at once. handlers: the same, by functions of this program.
  std::string load = "timers";
  double seconds = 5;
  std::uint64_t in_flight = 512;  // of the others
};

struct RunawayFigures {
  // Workflows of the others, before the load, beside it, and after it. A world becomes slower as
  // it grows, so the load is compared with the mean of before and after.
  double before_per_s = 0;
  double beside_per_s = 0;
  double after_per_s = 0;
  double alone_per_s() const { return (before_per_s + after_per_s) / 2; }
  double load_per_s = 0;  // effects of the load
  std::uint64_t cancels = 0;
  double cancel_p50_ms = 0;
  double cancel_p99_ms = 0;
  double stopped_ms = 0;  // until every instance of the load was cancelled
};

base::Result<RunawayFigures> bench_runaway(const RunawayOptions& options);

}  // namespace holdfast::cli
