// SPDX-License-Identifier: Apache-2.0
// WorldClock: the time of a world's ticks. It is the wall clock's where that is ahead; it never
// goes back, and it never stands still: a wall clock that is set back is waited for by nobody,
// because from the last time on it goes on with the time since boot.
//
// So a wall clock that jumped ahead and was corrected leaves the world ahead of it for good: what
// was seen once cannot be taken back. Timers keep their distance from the tick that set them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "env/clock.h"

namespace holdfast::node {

class WorldClock {
 public:
  // The clock must outlive it. Begins no earlier than `last_ns`.
  WorldClock(env::Clock& clock, std::uint64_t last_ns)
      : clock_(clock), last_ns_(last_ns), since_boot_ns_(clock.since_boot_ns()) {}

  std::uint64_t now_ns() {
    const std::int64_t since_boot_ns = clock_.since_boot_ns();
    const std::int64_t passed = std::max<std::int64_t>(0, since_boot_ns - since_boot_ns_);
    const std::int64_t wall_ns = std::max<std::int64_t>(0, clock_.wall_ns());
    last_ns_ = std::max(last_ns_ + static_cast<std::uint64_t>(passed),
                        static_cast<std::uint64_t>(wall_ns));
    since_boot_ns_ += passed;
    return last_ns_;
  }

  // To ring when it is `at_ns` here: when the wall clock says so or, as that may be set back, when
  // the time until then has passed. False: it is that late already.
  [[nodiscard]] bool set(env::Alarm& alarm, std::uint64_t at_ns) {
    const std::uint64_t now = now_ns();
    if (now >= at_ns) return false;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const auto bounded = [](std::uint64_t ns, std::int64_t most) {
      return static_cast<std::int64_t>(std::min(ns, static_cast<std::uint64_t>(most)));
    };
    const std::int64_t left_ns = bounded(at_ns - now, kMost - since_boot_ns_);
    return alarm.set(bounded(at_ns, kMost), since_boot_ns_ + left_ns);
  }

  // What it said last.
  std::uint64_t last_ns() const noexcept { return last_ns_; }

 private:
  env::Clock& clock_;
  std::uint64_t last_ns_;
  std::int64_t since_boot_ns_;  // at last_ns_
};

}  // namespace holdfast::node
