// SPDX-License-Identifier: Apache-2.0
// Going on with what an earlier tick left over: turns are taken behind every tick.
#include "kernel/world_state.h"

namespace holdfast::kernel {

Answer reduce_continue(WorldState& world, const Continue&) {
  if (world.ready.empty()) return Refused{base::ErrorCode::kConflict, "nothing is left over"};
  return Accepted{};
}

}  // namespace holdfast::kernel
