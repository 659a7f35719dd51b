// SPDX-License-Identifier: Apache-2.0
// Backlog: effects of one kind that are open and that their executor has no room for yet. An
// executor that is busy is no reason to fail what it has not looked at, so they wait here, and
// workflows take turns. What waits is known by its name alone, about 34 bytes each, and what it is
// stands in the world; there are no more of them than open effects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "base/hash.h"
#include "executors/fair_lines.h"
#include "kernel/open_intents.h"

namespace holdfast::node {

class Backlog {
 public:
  // `line`: what takes turns with the others.
  void add(std::string_view line, const base::Hash& intent);

  // It has settled, whether it waits here or not.
  void remove(const base::Hash& intent);

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }  // with what was removed lately

  // Offers one after the other, the lines by turns, and at most so many. kNoRoom: the line waits,
  // and another one is offered. False: all of them wait.
  enum class Offered : std::uint8_t { kTaken, kNoRoom };
  template <class Take>
  bool offer(std::size_t most, const Take& take) {
    for (; most > 0 && size_ != 0; --most) {
      const bool taken = lines_.serve([&](Line& line) {
        if (removed_.erase(line.front()) == 0 && take(line.front()) == Offered::kNoRoom)
          return false;
        line.pop_front();
        --size_;
        return true;
      });
      if (!taken) return false;
    }
    if (size_ == 0) removed_.clear();
    return true;
  }

 private:
  using Line = std::deque<base::Hash>;
  void drop_removed();

  executors::FairLines<Line> lines_;
  std::size_t size_ = 0;
  // May be in a line. Taken out at its turn, or when there are many such.
  std::unordered_set<base::Hash, kernel::FirstBytes> removed_;
};

}  // namespace holdfast::node
