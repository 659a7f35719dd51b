// SPDX-License-Identifier: Apache-2.0
// Timers: sys/timer.set@1. A timer fires once, never before its time by the clock of the world, and
// at once if its time has passed: in the order in which they become due. One that is set when its
// time has passed becomes due then, behind those that were due before it. They wait here and
// nowhere else: what the journal knows of them is that their intents are open. From any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executors/executor.h"

namespace holdfast::executors {

class Timers : public Executor {
 public:
  void start(const kernel::OpenIntent& intent, Reports& reports) override;
  void stop(const base::Hash& intent) override;

  // When the next one is due.
  std::optional<std::uint64_t> next_ns() const;

  // Reports those that are due, at most so many, the earliest first, each to where it was started.
  void fire(std::uint64_t now_ns, std::size_t most);

 private:
  // Equal times in the order of their intents, so that a simulation repeats itself.
  struct Timer {
    std::uint64_t at_ns;
    base::Hash intent;
    Reports* reports;

    friend bool operator==(const Timer& a, const Timer& b) {
      return a.at_ns == b.at_ns && a.intent == b.intent;
    }
    friend auto operator<=>(const Timer& a, const Timer& b) {
      return std::tie(a.at_ns, a.intent) <=> std::tie(b.at_ns, b.intent);
    }
  };

  struct Due {
    base::Hash intent;
    Reports* reports;
    std::optional<std::string> key;
  };

  // All with the mutex held.
  void take_due(std::uint64_t now_ns, std::size_t most, std::vector<Due>& due);
  void drop_first();
  void drop_first_stopped();
  void drop_stopped();

  mutable std::mutex mutex_;
  // A million of them are to be cheap, so there is no table to find one by: one that was stopped
  // stays until its time comes, or there are many such.
  std::vector<Timer> heap_;                                   // the first is the next
  std::unordered_set<base::Hash, base::HashOfHash> stopped_;  // in the heap, or fired before
  std::unordered_map<base::Hash, std::string, base::HashOfHash> keys_;  // of those that have one
};

}  // namespace holdfast::executors
