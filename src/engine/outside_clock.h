// SPDX-License-Identifier: Apache-2.0
// OutsideClock: a clock that a program has given, as those inside want it.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/result.h"
#include "env/clock.h"
#include "holdfast/clock.h"

namespace holdfast::engine {

class OutsideClock : public env::Clock {
 public:
  explicit OutsideClock(std::shared_ptr<holdfast::Clock> clock) : clock_(std::move(clock)) {}

  std::int64_t wall_ns() override { return clock_->wall_ns(); }
  std::int64_t since_boot_ns() override { return clock_->since_boot_ns(); }

  base::Result<std::unique_ptr<env::Alarm>> alarm(std::function<void()> ring) override {
    auto made = clock_->alarm(std::move(ring));
    if (made == nullptr) return base::invalid("clock", "it has made no alarm");
    return std::unique_ptr<env::Alarm>(std::make_unique<OutsideAlarm>(std::move(made)));
  }

 private:
  class OutsideAlarm : public env::Alarm {
   public:
    explicit OutsideAlarm(std::unique_ptr<holdfast::Alarm> alarm) : alarm_(std::move(alarm)) {}
    bool set(std::int64_t wall_ns, std::int64_t since_boot_ns) override {
      return alarm_->set(wall_ns, since_boot_ns);
    }

   private:
    std::unique_ptr<holdfast::Alarm> alarm_;
  };

  std::shared_ptr<holdfast::Clock> clock_;
};

}  // namespace holdfast::engine
