// SPDX-License-Identifier: Apache-2.0
// Admitting one tick into a world that is open and does not run: it is reduced, and its record made
// durable. Nothing is started or stopped: the commands that come of it are what the next node that
// runs the world finds open.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "env/random.h"
#include "kernel/world.h"
#include "store/journal.h"

namespace holdfast::node {

// The answer is durable; a refusal leaves no trace. The time is moved up to that of the last tick.
// kConflict: not all records of the world are durable, and nothing was done; after any other error
// the world has failed.
base::Result<kernel::Answer> admit_tick(kernel::World& world, store::Journal& journal,
                                        env::Random& random, std::uint64_t time_ns,
                                        const decltype(kernel::Tick::input)& input);

// The same; what is not accepted is an error.
base::Result<std::uint64_t> admit_or_refuse(kernel::World& world, store::Journal& journal,
                                            env::Random& random, std::uint64_t time_ns,
                                            const decltype(kernel::Tick::input)& input);

}  // namespace holdfast::node
