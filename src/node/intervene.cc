// SPDX-License-Identifier: Apache-2.0
#include "node/intervene.h"

#include "node/admit_tick.h"

namespace holdfast::node {

base::Result<kernel::Answer> intervene(kernel::World& world, store::Journal& journal,
                                       env::Random& random, std::uint64_t time_ns,
                                       const kernel::ControlRequested& request) {
  if (request.control == kernel::Control::kResume)
    return base::invalid("", "an instance is resumed when its world runs");
  return admit_tick(world, journal, random, time_ns, request);
}

}  // namespace holdfast::node
