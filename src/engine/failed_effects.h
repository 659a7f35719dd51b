// SPDX-License-Identifier: Apache-2.0
// FailedEffects: counts of effects and steps that failed since the engine was opened, by workflow,
// status and code. Codes are anybody's: of too many the rest is counted together, for each workflow
// and status, as `other`. From any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/measures.h"
#include "node/failed_effect.h"

namespace holdfast::engine {

class FailedEffects {
 public:
  void add(const node::FailedEffect& failed) {
    constexpr std::size_t kMost = 1000;
    const std::lock_guard lock(mutex_);
    Name name{failed.workflow, failed.status, failed.code};
    if (counts_.size() >= kMost && !counts_.contains(name))
      name = {failed.workflow, failed.status, "other"};
    // Definitions decide how many workflows there are; no more than these in any case.
    if (counts_.size() >= 2 * kMost && !counts_.contains(name)) name = {"", "", "other"};
    ++counts_[std::move(name)];
  }
  void put(std::vector<FailedCount>& out) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, count] : counts_)
      out.push_back({std::get<0>(name), std::get<1>(name), std::get<2>(name), count});
  }

 private:
  using Name = std::tuple<std::string, std::string, std::string>;
  mutable std::mutex mutex_;
  std::map<Name, std::uint64_t> counts_;
};

}  // namespace holdfast::engine
