// SPDX-License-Identifier: Apache-2.0
// Host: the machine that a registry is on, as far as the registry asks anything of it; a test can
// be one. Site: one registry there, and how long to wait for its lock.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "env/clock.h"
#include "env/disk.h"
#include "env/process.h"
#include "env/process_table.h"
#include "env/random.h"
#include "registry/place.h"

namespace holdfast::registry {

struct Host {
  env::Disk& disk;
  env::Clock& clock;
  env::Random& random;
  env::Process& process;
  env::ProcessTable& processes;
  std::function<void(std::int64_t nanoseconds)> sleep;
};

class StateCache;

struct Site {
  Host host;
  Place place;
  std::int64_t lock_timeout_ns = 30'000'000'000;
  StateCache* cache = nullptr;  // for whoever uses the same registry again and again
};

// The time of day as the files hold it.
inline std::int64_t wall_in_whole_ms(const Host& host) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return host.clock.wall_ns() / kMillisecond * kMillisecond;
}

// So much later; for ever, if it cannot be counted.
inline std::int64_t later(std::int64_t now_ns, std::int64_t by_ns) {
  constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
  return by_ns > kForEver - now_ns ? kForEver : now_ns + by_ns;
}

}  // namespace holdfast::registry
