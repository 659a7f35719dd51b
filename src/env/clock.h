// SPDX-License-Identifier: Apache-2.0
// Clock: wall time, which may jump and is only good for people and as journaled data, and time
// since the machine started, which goes on through suspension and is what to measure with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"

namespace holdfast::env {

// Rings when a time has come. When its destructor returns it rings no more.
class Alarm {
 public:
  virtual ~Alarm() = default;

  // To ring, once, when either of the two has come; instead of what it was set to before. It may
  // ring too early, never too late: not when the wall clock is set, nor when the machine sleeps
  // meanwhile. False: one of them has come already, and it does not ring. Never rings inside the
  // call.
  [[nodiscard]] virtual bool set(std::int64_t wall_ns, std::int64_t since_boot_ns) = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;

  virtual std::int64_t wall_ns() = 0;
  virtual std::int64_t since_boot_ns() = 0;

  // `ring` is called from any thread, but from none that is inside this clock or its alarms.
  virtual base::Result<std::unique_ptr<Alarm>> alarm(std::function<void()> ring) = 0;
};

std::unique_ptr<Clock> posix_clock();

// Stands still until it is moved. For whoever looks at it without waiting: it has no alarms.
class ManualClock : public Clock {
 public:
  std::int64_t wall_ns() override { return wall_; }
  std::int64_t since_boot_ns() override { return since_boot_; }
  base::Result<std::unique_ptr<Alarm>> alarm(std::function<void()>) override {
    return base::invalid("clock", "one that is moved by hand has no alarms");
  }

  void advance_ns(std::int64_t by) {
    wall_ += by;
    since_boot_ += by;
  }
  void set_wall_ns(std::int64_t wall) { wall_ = wall; }

 private:
  std::int64_t wall_ = 0;
  std::int64_t since_boot_ = 0;
};

}  // namespace holdfast::env
