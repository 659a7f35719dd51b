// SPDX-License-Identifier: Apache-2.0
// Clock: wall time, which may jump and is only good for people and as journaled data, and time
// since the machine started, which goes on through suspension and is what to measure with.
#pragma once

#include <cstdint>
#include <memory>

namespace holdfast::env {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual std::int64_t wall_ns() = 0;
  virtual std::int64_t since_boot_ns() = 0;
};

std::unique_ptr<Clock> posix_clock();

// Stands still until it is moved.
class ManualClock : public Clock {
 public:
  std::int64_t wall_ns() override { return wall_; }
  std::int64_t since_boot_ns() override { return since_boot_; }

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
