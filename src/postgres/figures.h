// SPDX-License-Identifier: Apache-2.0
// Figures of the bridge and of the SQL steps, for operators. From any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::postgres {

struct BridgeFigures {
  std::atomic<bool> is_serving = false;        // it holds its world
  std::atomic<std::uint64_t> connections = 0;  // that were opened so far
  std::atomic<std::uint64_t> requests = 0;     // that were decided
  std::atomic<std::uint64_t> refused = 0;      // of them
  std::atomic<std::uint64_t> ends = 0;         // of instances, that were written
  std::atomic<std::uint64_t> sweeps = 0;
  std::atomic<std::uint64_t> waiting = 0;         // requests that the last walk left for later
  std::atomic<std::uint64_t> steps = 0;           // SQL steps that were answered
  std::atomic<std::uint64_t> failed_steps = 0;    // of them
  std::atomic<std::uint64_t> repeated_steps = 0;  // attempts whose answer was lost
};

}  // namespace holdfast::postgres
