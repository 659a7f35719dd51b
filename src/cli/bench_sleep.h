// SPDX-License-Identifier: Apache-2.0
// Workflows that sleep: what they cost in memory, and how soon they are there again after kill -9.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/bench_crowd.h"

namespace holdfast::cli {

struct SleepFigures {
  CrowdFigures crowd;
  std::uint64_t recovered = 0;
};

// To be called while this process has one thread: it forks.
base::Result<SleepFigures> bench_sleep(const std::string& folder, std::uint64_t count);

}  // namespace holdfast::cli
