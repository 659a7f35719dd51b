// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast {
namespace {

// What rings. Its mutex is held while it does, so that whoever lets go of it knows that it is over.
struct Bell {
  explicit Bell(std::function<void()> the_ring) : ring(std::move(the_ring)) {}

  void call() {
    const std::lock_guard lock(ringing);
    if (ring) ring();
  }
  void take_down() {
    const std::lock_guard lock(ringing);
    ring = nullptr;
  }

  std::mutex ringing;
  std::function<void()> ring;
};

struct Setting {
  std::shared_ptr<Bell> bell;
  std::int64_t wall_ns;
  std::int64_t since_boot_ns;
};

}  // namespace

struct ManualClock::State {
  // Those who ring are called without this mutex: they may hold others, and ask for the time.
  std::mutex mutex;
  std::int64_t wall_ns = 0;
  std::int64_t since_boot_ns = 0;
  std::vector<Setting> settings;  // one for each bell that is to ring

  bool has_come(const Setting& setting) const {
    return wall_ns >= setting.wall_ns || since_boot_ns >= setting.since_boot_ns;
  }
  void forget(const std::shared_ptr<Bell>& bell) {
    std::erase_if(settings, [&](const Setting& setting) { return setting.bell == bell; });
  }

  template <class Move>
  void move(Move&& change) {
    std::vector<Setting> due;
    {
      const std::lock_guard lock(mutex);
      change();
      for (const Setting& setting : settings)
        if (has_come(setting)) due.push_back(setting);
      std::erase_if(settings, [this](const Setting& setting) { return has_come(setting); });
    }
    for (const Setting& setting : due) setting.bell->call();
  }

  class ManualAlarm;
};

class ManualClock::State::ManualAlarm : public Alarm {
 public:
  ManualAlarm(std::shared_ptr<State> state, std::function<void()> ring)
      : state_(std::move(state)), bell_(std::make_shared<Bell>(std::move(ring))) {}
  ~ManualAlarm() override {
    {
      const std::lock_guard lock(state_->mutex);
      state_->forget(bell_);
    }
    bell_->take_down();
  }
  ManualAlarm(const ManualAlarm&) = delete;
  ManualAlarm& operator=(const ManualAlarm&) = delete;

  bool set(std::int64_t at_wall_ns, std::int64_t at_boot_ns) override {
    const std::lock_guard lock(state_->mutex);
    state_->forget(bell_);
    Setting setting{bell_, at_wall_ns, at_boot_ns};
    if (state_->has_come(setting)) return false;
    state_->settings.push_back(std::move(setting));
    return true;
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Bell> bell_;
};

ManualClock::ManualClock(Time wall) : state_(std::make_shared<State>()) {
  state_->wall_ns = wall.time_since_epoch().count();
}

ManualClock::~ManualClock() = default;

std::int64_t ManualClock::wall_ns() {
  const std::lock_guard lock(state_->mutex);
  return state_->wall_ns;
}

std::int64_t ManualClock::since_boot_ns() {
  const std::lock_guard lock(state_->mutex);
  return state_->since_boot_ns;
}

std::unique_ptr<Alarm> ManualClock::alarm(std::function<void()> ring) {
  return std::make_unique<State::ManualAlarm>(state_, std::move(ring));
}

void ManualClock::advance(Duration by) {
  const std::int64_t forward = std::max<std::int64_t>(0, by.count());
  state_->move([&] {
    state_->wall_ns += forward;
    state_->since_boot_ns += forward;
  });
}

void ManualClock::set_wall(Time wall) {
  state_->move([&] { state_->wall_ns = wall.time_since_epoch().count(); });
}

}  // namespace holdfast
