// SPDX-License-Identifier: Apache-2.0
#include "dispatch/placement.h"

#include "dispatch/limits.h"

namespace holdfast::dispatch {
namespace {

// Thousandths of `all` that stay free.
std::uint64_t share_left(std::uint64_t wanted, std::uint64_t all, std::uint64_t used) {
  if (wanted == 0 || all == 0 || used + wanted >= all) return 0;
  return (all - used - wanted) * 1000 / all;  // amounts are at most 2^53
}

}  // namespace

std::string_view name_of(Policy policy) noexcept {
  return policy == Policy::kBestFit ? "best_fit" : "first_fit";
}

std::optional<Policy> policy_named(std::string_view name) noexcept {
  for (const Policy policy : {Policy::kBestFit, Policy::kFirstFit})
    if (name_of(policy) == name) return policy;
  return std::nullopt;
}

Spare spare_of(const Demand& demand, const Candidate& worker) {
  const tasks::Resources& needed = demand.resources;
  const std::uint64_t free = worker.offer.devices.size() - worker.used_devices.size();
  const std::uint64_t taken = needed.gpu ? needed.gpu->count : 0;
  return {.devices = worker.offer.devices.size() < worker.used_devices.size() || free < taken
                         ? 0
                         : free - taken,
          .cpu_share = share_left(needed.cpu_milli, worker.offer.cpu_milli, worker.used_cpu_milli),
          .memory_share =
              share_left(needed.memory_bytes, worker.offer.memory_bytes, worker.used_memory_bytes),
          .last_chosen = worker.last_chosen};
}

std::optional<WorkerIndex> place(Policy policy, const Fleet& fleet, const Bits& fitting,
                                 const Demand& demand, WorkerIndex first) {
  std::optional<WorkerIndex> best;
  Spare best_spare;
  std::size_t looked = 0;
  // From `first` to the end, then from the beginning to `first`.
  for (const bool is_second_part : {false, true}) {
    std::size_t from = is_second_part ? 0 : first;
    while (const auto next = first_in_both(fitting, fleet.asking(), from)) {
      if (is_second_part && *next >= first) break;
      from = *next + 1;
      const auto index = static_cast<WorkerIndex>(*next);
      if (lack_of(demand, fleet.at(index)) != Lack::kNone) continue;
      if (policy == Policy::kFirstFit) return index;
      const Spare spare = spare_of(demand, fleet.at(index));
      if (!best || spare < best_spare) {
        best = index;
        best_spare = spare;
      }
      if (++looked == kMostCandidates) return best;
    }
  }
  return best;
}

}  // namespace holdfast::dispatch
