// SPDX-License-Identifier: Apache-2.0
// OpenCounts: how many effects of each kind are open, and since when the oldest of them is, without
// looking at them: a world may have millions. Times are kept to about a second, so that what was
// opened together takes no more room than one. For people who look; nothing is decided by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace holdfast::kernel {

class OpenCounts {
 public:
  // By the number of the effect in its program.
  void add(std::uint32_t effect, std::uint64_t opened_ns);

  // One that was not added is ignored: what was there before anybody counted may end.
  void remove(std::uint32_t effect, std::uint64_t opened_ns);

  void clear() noexcept { effects_.clear(); }

  std::uint64_t open(std::uint32_t effect) const noexcept;

  // At most about a second too early. Nothing: none is open.
  std::optional<std::uint64_t> oldest_ns(std::uint32_t effect) const;

 private:
  struct OfEffect {
    std::uint64_t open = 0;
    std::map<std::uint64_t, std::uint64_t> by_second;  // no count is 0
  };

  std::vector<OfEffect> effects_;
};

}  // namespace holdfast::kernel
