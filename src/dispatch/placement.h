// SPDX-License-Identifier: Apache-2.0
// Placement: which of the workers that could run a task gets it. Its verdict is what is recorded,
// so a program with another policy replays the records of this one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dispatch/fleet.h"

namespace holdfast::dispatch {

enum class Policy : std::uint8_t {
  kBestFit,  // the worker that has least to spare; among equals the one that was chosen longest ago
  kFirstFit,  // the one with the smallest number
};

std::string_view name_of(Policy policy) noexcept;  // "best_fit"
std::optional<Policy> policy_named(std::string_view name) noexcept;

// What a worker would have to spare beside this task, the most important first. Smaller is better.
struct Spare {
  std::uint64_t devices = 0;       // GPUs that would stay free
  std::uint64_t cpu_share = 0;     // thousandths of its processors, if the task asks for some
  std::uint64_t memory_share = 0;  // likewise
  std::uint64_t last_chosen = 0;

  friend auto operator<=>(const Spare&, const Spare&) = default;
};

Spare spare_of(const Demand& demand, const Candidate& worker);

// Among the workers of `fitting` that ask for work and lack nothing. Looks at kMostCandidates of
// those, from `first` on and around. Nothing: there is none.
std::optional<WorkerIndex> place(Policy policy, const Fleet& fleet, const Bits& fitting,
                                 const Demand& demand, WorkerIndex first);

}  // namespace holdfast::dispatch
