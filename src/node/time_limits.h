// SPDX-License-Identifier: Apache-2.0
// TimeLimits: when effects that have a time limit must have ended. The limit counts from the tick
// that opened the effect, by the clock of the world: neither a restart nor a wait for a free thread
// makes it longer. Of what workers perform, it counts from the tick that leased it, and a limit for
// waiting from the tick since which it waits. Each of them is here as long as it is open.
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
  // What ends at a time.
  struct Limited {
    executors::Executor* executor = nullptr;
    std::uint64_t dispatch = 0;  // the lease; 0: it is not about one
    bool waits = false;          // it is the wait for a worker that ends
  };

  // One that is here already stays as it is.
  void add(std::uint64_t at_ns, const base::Hash& intent, const Limited& limited);

  // It has ended. One that is not here is ignored.
  void remove(const base::Hash& intent);

  // When the next one is over.
  std::optional<std::uint64_t> next_ns() const;

  // Takes the earliest that is over by now, if there is one.
  struct Over {
    base::Hash intent;
    Limited limited;
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
  struct Open {
    std::uint64_t at_ns;
    Limited limited;
  };
  bool is_open(const Limit& limit) const;
  void drop_first();
  void drop_removed();

  // What was removed stays in the heap until it is the first, or until half of the heap is such.
  std::vector<Limit> heap_;  // the first is the next, and is open
  std::unordered_map<base::Hash, Open, base::HashOfHash> open_;
};

}  // namespace holdfast::node
