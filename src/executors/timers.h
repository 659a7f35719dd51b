// SPDX-License-Identifier: Apache-2.0
// Timers: sys/timer.set@1. A timer fires once, never before its time by the clock of the world, and
// at once if its time has passed. They wait here and nowhere else: what the journal knows of them
// is that their intents are open.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "executors/executor.h"

namespace holdfast::executors {

class Timers : public Executor {
 public:
  void start(const kernel::OpenIntent& intent, Reports& reports) override;
  void stop(const base::Hash& intent) override;

  std::size_t size() const noexcept { return due_.size(); }

  // When the next one is due.
  std::optional<std::uint64_t> next_ns() const;

  // Reports those that are due, at most so many, the earliest first.
  void fire(std::uint64_t now_ns, std::size_t most, Reports& reports);

 private:
  // Equal times in the order of their intents, so that a simulation repeats itself.
  std::set<std::pair<std::uint64_t, base::Hash>> order_;
  std::unordered_map<base::Hash, std::uint64_t, base::HashOfHash> due_;
  std::unordered_map<base::Hash, std::string, base::HashOfHash> keys_;  // of those that have one
};

}  // namespace holdfast::executors
