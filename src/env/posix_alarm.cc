// SPDX-License-Identifier: Apache-2.0
#include "env/posix_alarm.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "env/descriptor.h"
#include "env/quiet_thread.h"
#include "env/system_error.h"

namespace holdfast::env {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Two clocks are never read at the same moment, so the same time is not quite the same when it is
// worked out again. By so much it may be late, which saves a call of the system before every wait.
constexpr std::int64_t kSameNs = 100'000;

// By the clock's own time, also when that is set or the machine sleeps.
void set_timer(const Descriptor& timer, std::int64_t at_ns) {
  itimerspec at{};
  at.it_value.tv_sec = at_ns / kSecond;
  at.it_value.tv_nsec = at_ns % kSecond;
  CHECK(::timerfd_settime(timer.number(), TFD_TIMER_ABSTIME, &at, nullptr) == 0);
}

void take(const Descriptor& timer) {
  std::uint64_t times = 0;
  [[maybe_unused]] const auto got = ::read(timer.number(), &times, sizeof times);  // none: set anew
}

class PosixAlarm : public Alarm {
 public:
  PosixAlarm(Descriptor by_wall, Descriptor since_boot, std::function<void()> ring)
      : by_wall_(std::move(by_wall)),
        since_boot_(std::move(since_boot)),
        ring_(std::move(ring)),
        thread_(quiet_thread([this] { run(); })) {}
  ~PosixAlarm() override {
    ended_ = true;
    set_timer(since_boot_, 1);
    thread_.join();
  }
  PosixAlarm(const PosixAlarm&) = delete;
  PosixAlarm& operator=(const PosixAlarm&) = delete;

  bool set(std::int64_t wall_ns, std::int64_t since_boot_ns) override {
    wall_ns = std::max<std::int64_t>(wall_ns, 1);  // zero would switch it off
    since_boot_ns = std::max<std::int64_t>(since_boot_ns, 1);
    const std::lock_guard lock(mutex_);
    const bool is_same =
        is_set_ && wall_ns == wall_ns_ && std::abs(since_boot_ns - since_boot_ns_) <= kSameNs;
    if (is_same) return true;
    set_timer(by_wall_, wall_ns_ = wall_ns);
    set_timer(since_boot_, since_boot_ns_ = since_boot_ns);
    is_set_ = true;
    return true;  // the kernel rings at once for what has come already
  }

 private:
  void run() {
    // Asked for before each wait: what ends it may be taken together with the last time it rang.
    while (!ended_) {
      pollfd timers[] = {{by_wall_.number(), POLLIN, 0}, {since_boot_.number(), POLLIN, 0}};
      ::poll(timers, 2, -1);  // an error: we ring too early
      if (ended_) return;
      {
        const std::lock_guard lock(mutex_);
        take(by_wall_);
        take(since_boot_);
        is_set_ = false;
      }
      ring_();
    }
  }

  const Descriptor by_wall_;
  const Descriptor since_boot_;
  const std::function<void()> ring_;
  std::mutex mutex_;
  bool is_set_ = false;  // and has not rung since
  std::int64_t wall_ns_ = 0;
  std::int64_t since_boot_ns_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace

base::Result<std::unique_ptr<Alarm>> posix_alarm(std::function<void()> ring) {
  Descriptor by_wall(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!by_wall.is_open()) return system_error("alarm", "timerfd_create");
  Descriptor since_boot(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!since_boot.is_open()) return system_error("alarm", "timerfd_create");
  return std::unique_ptr<Alarm>(
      std::make_unique<PosixAlarm>(std::move(by_wall), std::move(since_boot), std::move(ring)));
}

}  // namespace holdfast::env
