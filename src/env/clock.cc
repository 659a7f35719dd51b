// SPDX-License-Identifier: Apache-2.0
#include "env/clock.h"

#include <time.h>

#include <utility>

#include "base/check.h"
#include "env/posix_alarm.h"

namespace holdfast::env {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  CHECK(::clock_gettime(id, &now) == 0);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class PosixClock : public Clock {
 public:
  std::int64_t wall_ns() override { return read_clock(CLOCK_REALTIME); }
  std::int64_t since_boot_ns() override { return read_clock(CLOCK_BOOTTIME); }
  base::Result<std::unique_ptr<Alarm>> alarm(std::function<void()> ring) override {
    return posix_alarm(std::move(ring));
  }
};

}  // namespace

std::unique_ptr<Clock> posix_clock() { return std::make_unique<PosixClock>(); }

}  // namespace holdfast::env
