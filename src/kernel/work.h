// SPDX-License-Identifier: Apache-2.0
// Work: what a world knows of an open effect that workers perform, once it was leased. A lease says
// who holds it. The value never changes: a change makes another one, so commands can share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace holdfast::kernel {

// The executor kind of effects that can be leased.
inline constexpr std::string_view kByWorkers = "worker";

// The codes of effects that end without a report of their worker, or against it.
inline constexpr std::string_view kWorkerLost = "worker.lost";
inline constexpr std::string_view kStopped = "effect.stopped";

// Why a lease was given back. A lost one spends an attempt, the others are free.
enum class ReturnReason : std::uint8_t { kLost, kDrain, kDenied, kYield, kRefused };

std::string_view name_of(ReturnReason reason) noexcept;

struct Lease {
  std::string worker;
  std::uint64_t dispatch = 0;  // unique in the world, and grows; never 0
  std::uint64_t leased_ns = 0;
  std::optional<std::uint64_t> time_limit_ns;  // from leased_ns
  bool fails_if_lost = false;
  bool is_stopping = false;  // asked to stop: it settles as cancelled, whatever its worker says
  base::Bytes detail;        // whatever the one who leased it wants to know again
};

struct Work {
  std::uint64_t queued_ns = 0;            // since when it waits, or waited before the lease
  std::uint64_t losses = 0;               // leases that were lost
  std::uint64_t leases = 0;               // all leases
  std::vector<std::string> lost_by = {};  // the last workers that lost it, the oldest first
  base::Bytes resume = {};                // what the last yield left for whoever goes on
  std::optional<Lease> lease = {};        // nothing: it waits for a worker
};

// Dispatches are numbered by the record that grants them and their place in it.
inline constexpr std::uint64_t kDispatchesPerRecord = 1024;

inline std::uint64_t dispatch_number(std::uint64_t record, std::size_t place) noexcept {
  return record * kDispatchesPerRecord + place;
}

}  // namespace holdfast::kernel
