// SPDX-License-Identifier: Apache-2.0
// Clock: the time that a world goes by: of its ticks, its timers, and the time limits of effects.
// An engine has that of the machine unless it is given another one, as tests are: with a
// ManualClock a workflow that takes a month is tested in milliseconds.
//
// What a caller waits for (Engine::wait) and what is outside (requests, programs) go by the
// machine's clock all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "holdfast/types.h"

namespace holdfast {

// Rings when a time has come. When its destructor returns it rings no more.
class Alarm {
 public:
  virtual ~Alarm() = default;

  // To ring, once, when either of the two has come; instead of what it was set to before. It may
  // ring too early, never too late. False: one of them has come already, and it does not ring.
  // Never rings inside the call.
  [[nodiscard]] virtual bool set(std::int64_t wall_ns, std::int64_t since_boot_ns) = 0;
};

// For any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual std::int64_t wall_ns() = 0;        // since 1970; may jump
  virtual std::int64_t since_boot_ns() = 0;  // never goes back, nor stands still while a world runs

  // `ring` is called from any thread, but from none that is inside this clock or its alarms.
  virtual std::unique_ptr<Alarm> alarm(std::function<void()> ring) = 0;
};

// Stands still until it is moved.
class ManualClock : public Clock {
 public:
  explicit ManualClock(Time wall = {});
  ~ManualClock() override;
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  std::int64_t wall_ns() override;
  std::int64_t since_boot_ns() override;
  std::unique_ptr<Alarm> alarm(std::function<void()> ring) override;

  void advance(Duration by);  // by nothing or more
  void set_wall(Time wall);   // as an operator sets a machine's clock: no time passes

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast
