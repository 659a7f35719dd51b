// SPDX-License-Identifier: Apache-2.0
// Stage: what every run of a simulation stands on, all of it out of a seed: a clock, chance, a
// disk, and the code and definitions of the workflows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/clock.h"
#include "env/random.h"
#include "env/sim_disk.h"
#include "native/machines.h"
#include "node/local_world.h"
#include "sim/nameless_process.h"
#include "sim/workflows.h"

namespace holdfast::sim {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000 * kMillisecond;
inline constexpr std::int64_t kStart = 1'700'000'000 * kSecond;  // by the wall clock

struct Stage {
  explicit Stage(std::uint64_t seed, Load load = Load::kPlain)
      : entropy(env::seeded_random(seed)), modules(sim::modules(load)) {
    clock.set_wall_ns(kStart);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  base::Result<std::unique_ptr<node::LocalWorld>> open_world(
      const node::LocalWorldOptions& options) {
    return node::LocalWorld::open(*disk, *entropy, process, "./world", machines, options);
  }

  std::unique_ptr<env::Random> entropy;
  env::ManualClock clock;
  NamelessProcess process;
  std::vector<Module> modules;
  const base::Bytes definitions = sim::definitions(modules);
  native::Machines machines{modules};
  std::unique_ptr<env::SimDisk> disk = std::make_unique<env::SimDisk>();
};

}  // namespace holdfast::sim
