// SPDX-License-Identifier: Apache-2.0
// Intervening: an instance is cancelled or paused in a world that is open and does not run yet.
// That is for a world which a step ends each time it runs, because code cannot run the step here:
// what is open would be started again, its result would come back, and the step with it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "env/random.h"
#include "kernel/world.h"
#include "store/journal.h"

namespace holdfast::node {

// The answer is durable. No code is run, and nothing is started or stopped. The time is not before
// that of the last tick (RestoreReport::last_ns). kInvalid: to resume is to run; kConflict: not all
// records of the world are durable. Nothing was done then; after any other error the world has
// failed.
base::Result<kernel::Answer> intervene(kernel::World& world, store::Journal& journal,
                                       env::Random& random, std::uint64_t time_ns,
                                       const kernel::ControlRequested& request);

}  // namespace holdfast::node
