// SPDX-License-Identifier: Apache-2.0
// TimeLimits: when effects that have a time limit must have ended. The limit counts from the tick
// that opened the effect, by the clock of the world: neither a restart nor a wait for a free thread
// makes it longer. Each of them is here as long as it is open.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "executors/executor.h"

namespace holdfast::node {

class TimeLimits {
 public:
  // The one that ends at `at_ns` is told to this executor. One that is here already stays as it is.
  void add(std::uint64_t at_ns, const base::Hash& intent, executors::Executor& executor);

  // It has ended. One that is not here is ignored.
  void remove(const base::Hash& intent);

  // When the next one is over.
  std::optional<std::uint64_t> next_ns() const;

  // Takes the earliest that is over by now, if there is one.
  struct Over {
    base::Hash intent;
    executors::Executor* executor;
  };
  std::optional<Over> take(std::uint64_t now_ns);

  std::size_t held() const noexcept { return heap_.size(); }  // with what was removed lately

 private:
  // Equal times in the order of their intents, so that a simulation repeats itself.
  struct Limit {
    std::uint64_t at_ns;
    base::Hash intent;
    friend auto operator<=>(const Limit&, const Limit&) = default;
  };
  void drop_first();
  void drop_removed();

  // What was removed stays in the heap until it is the first, or until half of the heap is such.
  std::vector<Limit> heap_;  // the first is the next, and is open
  std::unordered_map<base::Hash, executors::Executor*, base::HashOfHash> open_;
};

}  // namespace holdfast::node
