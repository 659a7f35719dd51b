// SPDX-License-Identifier: Apache-2.0
// Watchdog: which workers are alive. It is told when a worker was heard, and says once that it has
// become silent (no heartbeat for its TTL) and once that it is lost (silent for a further grace).
//
// Times are of a clock that never goes back. If the program itself did not run for a while, nobody
// could be heard, so that time does not count against any worker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/limits.h"

namespace holdfast::dispatch {

struct WatchdogOptions {
  std::uint64_t ttl_ns = 30 * kSecondNs;
  std::uint64_t grace_ns = 30 * kSecondNs;
  std::uint64_t rehydration_ns =
      120 * kSecondNs;                     // instead, for workers that hold work after a restart
  std::uint64_t pause_ns = 5 * kSecondNs;  // between two calls: beyond it the program did not run
};

class Watchdog {
 public:
  explicit Watchdog(WatchdogOptions options = {}) : options_(options) {}

  // The world knows the worker; it was not heard since this program began.
  void expect(std::string_view worker, bool holds_work, std::uint64_t now_ns);
  // True: it was not alive before.
  bool heard(std::string_view worker, std::uint64_t now_ns);
  // It has left, or is lost for the world.
  void forget(std::string_view worker);
  // It could not be recorded that it is lost: `look` says so again, `after_ns` from now.
  void try_again(std::string_view worker, std::uint64_t now_ns, std::uint64_t after_ns);

  bool is_live(std::string_view worker) const;
  std::optional<std::uint64_t> heard_ns(std::string_view worker) const;

  struct Verdicts {
    std::vector<std::string> silent;
    std::vector<std::string> lost;  // they are not watched any more
    bool after_pause = false;  // the program did not run for a while: other clocks begin again, too
  };
  Verdicts look(std::uint64_t now_ns);

  std::optional<std::uint64_t> next_ns() const;

 private:
  enum class Stage : std::uint8_t { kLive, kSilent };
  struct Watched {
    Stage stage = Stage::kLive;
    std::uint64_t due_ns = 0;
    std::optional<std::uint64_t> heard_ns;
  };
  using All = std::map<std::string, Watched, std::less<>>;

  void put(std::string_view worker, Stage stage, std::uint64_t due_ns,
           std::optional<std::uint64_t> heard_ns);
  void notice_pause(std::uint64_t now_ns);
  void move_all(std::uint64_t by_ns);

  WatchdogOptions options_;
  All all_;
  std::set<std::pair<std::uint64_t, std::string>> due_;
  std::optional<std::uint64_t> ran_ns_;  // when the program ran last, as far as it is known here
  bool was_paused_ = false;              // since the last look
};

}  // namespace holdfast::dispatch
