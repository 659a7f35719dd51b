// SPDX-License-Identifier: Apache-2.0
// Retry: whether a step that has failed is tried again, and when. It is asked once for each
// failure, where the step ran; the answer is recorded, so that another policy, or another clock,
// changes nothing that has happened. A policy is any function; these are the usual ones:
//
//   Retry(exponential(1s, 2, 60s) + random_wait(0s, 500ms), after_attempts(5) || after(10min))
//   Retry(fixed(5s), after_attempts(3)).only_if(has_code({"http.503"}))
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/types.h"

namespace holdfast {

struct StepFailure {
  std::string_view code;
  std::string_view message;
  std::uint64_t failures = 1;  // of this event in this step, this one included
  Duration elapsed{};          // since the first attempt began
  std::uint64_t seed = 0;      // a number that belongs to this failure alone, the same each time
};

// How long to wait before the next attempt.
using Wait = std::function<Duration(const StepFailure&)>;

// When to give up, if the next attempt would be after so long.
using StopWhen = std::function<bool(const StepFailure&, Duration next)>;

using FailureTest = std::function<bool(const StepFailure&)>;

namespace detail {

// Stays at the longest or the shortest there is: a wait that wrapped around would be none at all.
inline Duration sum(Duration a, Duration b) {
  std::int64_t ns = 0;
  if (!__builtin_add_overflow(a.count(), b.count(), &ns)) return Duration(ns);
  return b < Duration(0) ? Duration::min() : Duration::max();
}
inline Duration difference(Duration a, Duration b) {
  std::int64_t ns = 0;
  if (!__builtin_sub_overflow(a.count(), b.count(), &ns)) return Duration(ns);
  return b < Duration(0) ? Duration::max() : Duration::min();
}

// What is no number is as long as it may be, so that nothing is tried again without a pause.
inline Duration bounded(double ns, Duration most) {
  if (ns <= 0) return Duration(0);
  return ns < static_cast<double>(most.count()) ? Duration(static_cast<std::int64_t>(ns)) : most;
}

inline double failures_before(const StepFailure& failure) {
  return failure.failures == 0 ? 0 : static_cast<double>(failure.failures - 1);
}

// From 0 to 1, out of a number (splitmix64).
inline double fraction(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((seed ^ (seed >> 31)) >> 11) * 0x1p-53;
}

}  // namespace detail

inline constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

inline Wait fixed(Duration wait) {
  return [wait](const StepFailure&) { return wait; };
}
// The first, then `factor` times as long with every failure.
inline Wait exponential(Duration first, double factor = 2, Duration most = kLongestWait) {
  return [=](const StepFailure& failure) {
    if (first <= Duration(0)) return Duration(0);  // also where the factor has become infinite
    const double times = std::pow(factor, detail::failures_before(failure));
    return detail::bounded(static_cast<double>(first.count()) * times, most);
  };
}
// The first, then `more` longer with every failure.
inline Wait incrementing(Duration first, Duration more, Duration most = kLongestWait) {
  return [=](const StepFailure& failure) {
    const double added = static_cast<double>(more.count()) * detail::failures_before(failure);
    return detail::bounded(static_cast<double>(first.count()) + added, most);
  };
}
// Somewhere between the two; the same for the same failure.
inline Wait random_wait(Duration least, Duration most) {
  return [=](const StepFailure& failure) {
    const Duration span = detail::difference(most, least);
    const double part = static_cast<double>(span.count()) * detail::fraction(failure.seed);
    return detail::sum(least, detail::bounded(part, span));
  };
}
// Between nothing and what the other says, so that many do not come at once.
inline Wait jittered(Wait wait) {
  return [wait = std::move(wait)](const StepFailure& failure) {
    const Duration most = wait(failure);
    return detail::bounded(static_cast<double>(most.count()) * detail::fraction(failure.seed),
                           most);
  };
}
// One after another; the last one from then on.
inline Wait chain(std::vector<Wait> waits) {
  return [waits = std::move(waits)](const StepFailure& failure) {
    if (waits.empty()) return Duration(0);
    return waits[std::clamp<std::size_t>(failure.failures, 1, waits.size()) - 1](failure);
  };
}
inline Wait operator+(Wait a, Wait b) {
  return [a = std::move(a), b = std::move(b)](const StepFailure& failure) {
    return detail::sum(a(failure), b(failure));
  };
}

inline StopWhen after_attempts(std::uint64_t attempts) {
  return [=](const StepFailure& failure, Duration) { return failure.failures >= attempts; };
}
inline StopWhen after(Duration elapsed) {
  return [=](const StepFailure& failure, Duration) { return failure.elapsed >= elapsed; };
}
// The next attempt would not begin before then.
inline StopWhen before(Duration elapsed) {
  return [=](const StepFailure& failure, Duration next) {
    return detail::sum(failure.elapsed, next) >= elapsed;
  };
}
inline StopWhen never_stop() {
  return [](const StepFailure&, Duration) { return false; };
}
inline StopWhen operator||(StopWhen a, StopWhen b) {
  return [a = std::move(a), b = std::move(b)](const StepFailure& failure, Duration next) {
    return a(failure, next) || b(failure, next);
  };
}
inline StopWhen operator&&(StopWhen a, StopWhen b) {
  return [a = std::move(a), b = std::move(b)](const StepFailure& failure, Duration next) {
    return a(failure, next) && b(failure, next);
  };
}

inline FailureTest has_code(std::vector<std::string> codes) {
  return [codes = std::move(codes)](const StepFailure& failure) {
    return std::find(codes.begin(), codes.end(), failure.code) != codes.end();
  };
}
inline FailureTest says(std::string part) {
  return [part = std::move(part)](const StepFailure& failure) {
    return failure.message.find(part) != failure.message.npos;
  };
}

class Retry {
 public:
  // Never.
  Retry() = default;
  Retry(Wait wait, StopWhen stop) : wait_(std::move(wait)), stop_(std::move(stop)) {}

  // Both must agree if it had a condition before.
  Retry only_if(FailureTest test) && {
    if (test_) {
      test = [a = std::move(test_), b = std::move(test)](const StepFailure& failure) {
        return a(failure) && b(failure);
      };
    }
    test_ = std::move(test);
    return std::move(*this);
  }

  // After how long to try again; nothing: not.
  std::optional<Duration> judge(const StepFailure& failure) const {
    if (!wait_ || (test_ && !test_(failure))) return std::nullopt;
    const Duration next = std::max(Duration(0), wait_(failure));
    if (stop_ && stop_(failure, next)) return std::nullopt;
    return next;
  }

 private:
  Wait wait_;
  StopWhen stop_;
  FailureTest test_;
};

}  // namespace holdfast
