// SPDX-License-Identifier: Apache-2.0
#include "kernel/world_state.h"

namespace holdfast::kernel {

Answer reduce_event(WorldState& world, const EventArrived& event) {
  if (event.id.size() > kMaxEventIdBytes)
    return Refused{base::ErrorCode::kInvalid, "the event id is too long"};
  if (!event.id.empty()) {
    if (const std::uint64_t* before = world.event_ids.find(event.id)) return Repeated{*before};
  }
  const EventProgram* program = world.program->event(event.schema);
  if (program == nullptr) {
    return Refused{base::ErrorCode::kNotFound,
                   "the manifest has no schema '" + std::string(event.schema) + "'"};
  }
  std::vector<Target> targets;
  Refused refusal{};
  if (!find_targets(world, *program, event.value, targets, refusal)) return refusal;

  for (const Target& target : targets) deliver_event(world, *program, event.value, target);
  if (!event.id.empty()) world.event_ids.add(std::string(event.id), world.next_record);
  return Accepted{0, world.draft.deliveries, world.draft.ignored, program->routes.empty()};
}

}  // namespace holdfast::kernel
