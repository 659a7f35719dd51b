// SPDX-License-Identifier: Apache-2.0
// Policy: how the dispatcher treats a task: when it is chosen, how often it is tried, how long it
// may take, and whether it can be run again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tasks/scene.h"

namespace holdfast::tasks {

// At most `limit` tasks with the same key run at once, over all graphs.
struct Concurrency {
  std::string key;
  std::uint32_t limit = 1;

  friend bool operator==(const Concurrency&, const Concurrency&) = default;
};

// What a task does to the outside. One with external effects that is lost fails instead of running
// again, unless it is declared replayable.
enum class Effects : std::uint8_t { kNone, kIdempotent, kExternal };

inline constexpr std::uint32_t kDefaultMaxAttempts = 3;

struct Policy {
  std::int32_t priority = 0;  // higher is earlier
  std::optional<Concurrency> concurrency;
  std::optional<std::uint32_t> max_attempts = kDefaultMaxAttempts;  // nothing: no limit
  std::uint64_t timeout_ns = 0;                                     // of one execution; 0: none
  std::uint64_t queue_timeout_ns = 0;                               // until it is leased; 0: none
  Effects effects = Effects::kIdempotent;
  bool replayable = false;
  bool preemptible = false;

  friend bool operator==(const Policy&, const Policy&) = default;
};

// Whether a task whose worker was lost may run again.
inline bool may_run_again(const Policy& policy) noexcept {
  return policy.effects != Effects::kExternal || policy.replayable;
}

Policy read_policy(View spec, Scene& scene);

}  // namespace holdfast::tasks
