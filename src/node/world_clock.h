// SPDX-License-Identifier: Apache-2.0
// WorldClock: the time of a world's ticks. It follows the wall clock, and it never goes back and
// never stands still.
//
//  1. A small step of the wall clock is taken at once. A large one may be a mistake that is
//     corrected a moment later, so it is taken only when it has lasted; until then the time goes on
//     as if the clock had not been set. One wrong reading rings no timer.
//  2. A wall clock that says 1970 or earlier has not been set, and is not followed.
//  3. A world that is ahead of the wall clock, because that was set back or was wrong when the
//     world was opened, goes an eighth slower until the two meet.
//
// What a step is, is told by the time since boot, which goes on while the machine sleeps. Nothing
// is known of the time before this was made: the wall clock is right then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "env/clock.h"

namespace holdfast::node {

class WorldClock {
 public:
  static constexpr std::int64_t kLargestStepNs = 60'000'000'000;  // that is taken at once
  static constexpr std::int64_t kLastsNs = 300'000'000'000;       // how long a larger one must last
  static constexpr std::uint64_t kSlower = 8;                     // by an eighth

  // The clock must outlive it. Begins no earlier than `last_ns`.
  WorldClock(env::Clock& clock, std::uint64_t last_ns)
      : clock_(clock),
        last_ns_(last_ns),
        since_boot_ns_(clock.since_boot_ns()),
        trusted_ns_(std::max<std::int64_t>(0, clock.wall_ns())) {}

  std::uint64_t now_ns() {
    const std::int64_t passed = std::max<std::int64_t>(0, clock_.since_boot_ns() - since_boot_ns_);
    since_boot_ns_ += passed;
    trusted_ns_ = going_on(trusted_ns_, passed);
    if (const std::int64_t wall_ns = clock_.wall_ns(); wall_ns > 0) judge(wall_ns);
    const auto went = static_cast<std::uint64_t>(passed);
    last_ns_ = std::max(last_ns_ + went - went / kSlower, static_cast<std::uint64_t>(trusted_ns_));
    notice_distance();
    return last_ns_;
  }

  // To ring when it is `at_ns` here: when the wall clock says so or, as that may be set back, when
  // the time until then has passed. False: it is that late already.
  [[nodiscard]] bool set(env::Alarm& alarm, std::uint64_t at_ns) {
    const std::uint64_t now = now_ns();
    if (now >= at_ns) return false;
    const std::int64_t rings_ns =
        since_boot_ns_ + bounded(wait_for(at_ns - now), kMost - since_boot_ns_);
    if (!held_) return alarm.set(bounded(at_ns, kMost), rings_ns);
    // By then the step is taken. The wall clock may be beyond `at_ns` already.
    return alarm.set(kMost, std::min(rings_ns, held_->since_ns + kLastsNs));
  }

  // What it said last.
  std::uint64_t last_ns() const noexcept { return last_ns_; }

  // How far it is ahead of what the wall clock says; below nothing: behind it.
  std::int64_t ahead_ns() {
    const std::uint64_t now = now_ns();
    return bounded(now, kMost) - std::max<std::int64_t>(0, clock_.wall_ns());
  }

  // What an operator would like to know, a line a minute at most; empty: nothing.
  bool has_news() const noexcept { return !news_.empty() && since_boot_ns_ >= quiet_until_ns_; }
  std::string take_news() {
    if (!has_news()) return {};
    quiet_until_ns_ = since_boot_ns_ + std::min(kQuietNs, kMost - since_boot_ns_);
    return std::exchange(news_, {});
  }

 private:
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kQuietNs = 60'000'000'000;

  // A step that may be a mistake.
  struct Held {
    std::int64_t wall_ns;   // what the wall clock said
    std::int64_t seen_ns;   // when it did, since boot
    std::int64_t since_ns;  // when it said so first
  };

  static std::int64_t bounded(std::uint64_t ns, std::int64_t most) {
    return static_cast<std::int64_t>(std::min(ns, static_cast<std::uint64_t>(most)));
  }
  static std::int64_t going_on(std::int64_t from_ns, std::int64_t by_ns) {
    return from_ns + std::min(by_ns, kMost - from_ns);
  }
  static bool is_small(std::int64_t step_ns) {
    return step_ns <= kLargestStepNs && step_ns >= -kLargestStepNs;
  }
  static std::string seconds(std::int64_t ns) { return std::to_string(ns / 1'000'000'000) + " s"; }

  void judge(std::int64_t wall_ns) {
    const std::int64_t step_ns = wall_ns - trusted_ns_;  // neither is below nothing
    if (is_small(step_ns)) {
      if (held_) news_ = "the wall clock is right again; its step was not taken";
      held_.reset();
      trusted_ns_ = wall_ns;
      return;
    }
    if (!held_ || !is_small(wall_ns - going_on(held_->wall_ns, since_boot_ns_ - held_->seen_ns))) {
      held_ = Held{wall_ns, since_boot_ns_, since_boot_ns_};
      news_ = "the wall clock was set by " + seconds(step_ns) +
              "; the world takes that when it has lasted " + seconds(kLastsNs);
      return;
    }
    held_->wall_ns = wall_ns;
    held_->seen_ns = since_boot_ns_;
    if (since_boot_ns_ - held_->since_ns < kLastsNs) return;
    held_.reset();
    trusted_ns_ = wall_ns;
    news_ = "the world takes the step of the wall clock by " + seconds(step_ns);
  }

  // Between two lines the distance must have been small, or it would be told again and again.
  void notice_distance() {
    const std::int64_t ahead_ns = bounded(last_ns_, kMost) - trusted_ns_;
    if (!was_ahead_ && ahead_ns > kLargestStepNs) {
      was_ahead_ = true;
      if (!news_.empty()) news_ += "; ";
      news_ += "the world is " + seconds(ahead_ns) +
               " ahead of the wall clock, and goes an eighth slower until they meet";
    } else if (was_ahead_ && ahead_ns == 0) {
      was_ahead_ = false;
      if (!news_.empty()) news_ += "; ";
      news_ += "the world has met the wall clock";
    }
  }

  // How long it takes to go on by so much: slower until it has met the wall clock.
  std::uint64_t wait_for(std::uint64_t left_ns) const {
    const auto trusted = static_cast<std::uint64_t>(trusted_ns_);
    const std::uint64_t ahead = last_ns_ > trusted ? last_ns_ - trusted : 0;
    const std::uint64_t slow = left_ns / (kSlower - 1) + 1;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - left_ns;
    return left_ns + std::min({slow, ahead, most});
  }

  env::Clock& clock_;
  std::uint64_t last_ns_;
  std::int64_t since_boot_ns_;  // at last_ns_
  std::int64_t trusted_ns_;     // the wall clock then, without steps that were not taken
  std::optional<Held> held_;
  bool was_ahead_ = false;
  std::int64_t quiet_until_ns_ = 0;
  std::string news_;
};

}  // namespace holdfast::node
