// SPDX-License-Identifier: Apache-2.0
// Timers: functions to be called at some time, if they are not taken back before. One thread's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace holdfast::gateway {

class Timers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Id = std::pair<Time, std::uint64_t>;

  Id add(Time when, std::function<void()> call) {
    const Id id{when, ++last_};
    calls_.emplace(id, std::move(call));
    return id;
  }
  void remove(const Id& id) { calls_.erase(id); }

  void run_until(Time now) {
    while (!calls_.empty() && calls_.begin()->first.first <= now) {
      const auto call = std::move(calls_.begin()->second);
      calls_.erase(calls_.begin());
      call();
    }
  }
  // Those that are there now, and none that they add.
  void run_all() {
    for (const auto& [id, call] : std::exchange(calls_, {})) call();
  }

 private:
  std::map<Id, std::function<void()>> calls_;
  std::uint64_t last_ = 0;
};

}  // namespace holdfast::gateway
