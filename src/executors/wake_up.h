// SPDX-License-Identifier: Apache-2.0
// WakeUp: makes a thread that polls look up.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "env/descriptor.h"
#include "env/system_error.h"

namespace holdfast::executors {

class WakeUp {
 public:
  static base::Result<WakeUp> make() {
    env::Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event.is_open()) return env::system_error("executor", "eventfd");
    return WakeUp(std::move(event));
  }

  // Readable as long as somebody has called and nobody has listened.
  int descriptor() const noexcept { return event_.number(); }

  // A counter that is full is readable too, so what write says does not matter.
  void call() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_.number(), &one, sizeof one);
  }
  void listened() const noexcept {
    std::uint64_t calls = 0;
    [[maybe_unused]] const auto got = ::read(event_.number(), &calls, sizeof calls);
  }

 private:
  explicit WakeUp(env::Descriptor event) : event_(std::move(event)) {}

  env::Descriptor event_;
};

}  // namespace holdfast::executors
