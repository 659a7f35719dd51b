// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Whether the bytes are the canonical form of a value of the event's schema; else `refusal` says
// why not.
bool is_canonical(WorldState& world, const EventProgram& program, base::ByteView value,
                  Refused& refusal) {
  const auto made = world.normaliser.part_from_cbor(program.schema, value);
  if (!made) {
    refusal = {base::ErrorCode::kInvalid, "the event: " + made.error().to_string()};
    return false;
  }
  if (made->data() == value.data() || base::equal(*made, value)) return true;
  refusal = {base::ErrorCode::kInvalid, "the event is not in its canonical form"};
  return false;
}

}  // namespace

Answer reduce_event(WorldState& world, const EventArrived& event) {
  if (!is_text(event.id, kMaxEventIdBytes))
    return Refused{base::ErrorCode::kInvalid, "the event id is too long, or not UTF-8"};
  if (event.workflow.empty() && (!event.key.empty() || event.starts))
    return Refused{base::ErrorCode::kInvalid, "a key is for an event that names its workflow"};
  if (!event.id.empty()) {
    if (const std::uint64_t* before = world.event_ids.find(event.id)) {
      ++world.counters.repeated_events;
      return Repeated{*before};
    }
  }
  const EventProgram* program = world.program->event(event.schema);
  if (program == nullptr) {
    return Refused{base::ErrorCode::kNotFound,
                   "the manifest has no schema '" + shown(event.schema) + "'"};
  }
  Targets& targets = world.targets;
  targets.clear();
  Refused refusal{};
  if (!is_canonical(world, *program, event.value, refusal)) return refusal;
  const bool found = event.workflow.empty()
                         ? find_targets(world, *program, event.value, targets, refusal)
                         : find_addressee(world, event, targets, refusal);
  if (!found) return refusal;

  for (const Target& target : targets.all) deliver_event(world, *program, event.value, target);
  if (!event.id.empty()) CHECK(world.event_ids.add(std::string(event.id), world.next_record));
  if (targets.all.empty()) note(world, "event.unrouted", {program->schema_name});
  return Accepted{0, world.draft.deliveries, world.draft.ignored, targets.all.empty()};
}

}  // namespace holdfast::kernel
