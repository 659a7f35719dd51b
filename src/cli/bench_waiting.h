// SPDX-License-Identifier: Apache-2.0
// Very many effects of one kind that wait for an executor which is stuck: what they cost, and that
// all of them are performed after kill -9.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/bench_crowd.h"

namespace holdfast::cli {

struct WaitingFigures {
  CrowdFigures crowd;
  double performed_s = 0;       // until all of them were performed, after kill -9
  std::uint64_t completed = 0;  // workflows
};

// To be called while this process has one thread: it forks.
base::Result<WaitingFigures> bench_waiting(const std::string& folder, std::uint64_t count);

}  // namespace holdfast::cli
