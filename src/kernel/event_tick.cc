// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "base/crc32c.h"
#include "base/trace_context.h"
#include "kernel/cell_codec.h"
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

// Of all that an event says, but not of the trace: whoever sends it again does so in another one.
// It tells two events apart whose sender gave them the same id by
// mistake; it is no defence against one who does so on purpose.
std::uint32_t fingerprint_of(const EventArrived& event) {
  const auto behind = [](std::uint32_t sum, base::ByteView part, std::size_t mark) {
    return base::crc32c(part, sum + static_cast<std::uint32_t>(mark));
  };
  // The sizes mark where a part ends.
  std::uint32_t sum = behind(0, event.value, event.value.size());
  sum = behind(sum, base::as_bytes(event.schema), event.schema.size());
  if (event.workflow.empty()) return sum;
  sum = behind(sum, base::as_bytes(event.workflow), event.workflow.size());
  const std::size_t how = event.reuse == KeyReuse::kStartAgain ? 2 : event.starts ? 1 : 0;
  return behind(sum, event.key, how);
}

// Events of the system's own workflows are for those who name the instance.
const EventProgram* find_event(const WorldState& world, const EventArrived& event) {
  const auto workflow =
      event.workflow.empty() ? std::nullopt : world.program->workflow_named(event.workflow);
  if (!workflow) return world.program->event(event.schema);
  return world.program->event_of(world.program->workflow(*workflow), event.schema);
}

// Those whom an event was for that no instance took, found again: names are not kept. What has
// changed since does not count where the first answer says enough.
std::vector<Untaken> untaken_again(WorldState& world, const EventArrived& event,
                                   const KnownEvent& first) {
  const EventProgram* program = find_event(world, event);
  world.targets.clear();
  Refused unused{};
  if (program == nullptr || !is_canonical(world, *program, event.value, unused)) return {};
  if (!(event.workflow.empty() ? find_targets(world, *program, event.value, world.targets, unused)
                               : find_addressee(world, event, world.targets, unused)))
    return {};
  std::vector<Untaken> all;
  for (const Target& target : world.targets.all) {
    if (all.size() == kMostUntaken) break;
    const bool is_over = target.cell != nullptr && target.cell->terminal();
    const bool was_over = first.unhandled == 0 || (first.ignored != 0 && is_over);
    Untaken& untaken = all.emplace_back();
    untaken.workflow = world.program->workflow(target.workflow).name;
    untaken.key.assign(target.key.begin(), target.key.end());
    untaken.why = was_over ? Untaken::Why::kEnded : Untaken::Why::kNone;
    if (was_over && is_over) untaken.ended = target.cell->status();
  }
  return all;
}

// The answer to an event whose id is known.
Answer answer_again(WorldState& world, const EventArrived& event, const KnownEvent& first) {
  if (first.fingerprint != fingerprint_of(event)) {
    return Refused{base::ErrorCode::kConflict, "the event id '" + std::string(event.id) +
                                                   "' belongs to another event, of record " +
                                                   std::to_string(first.record)};
  }
  ++world.counters.repeated_events;
  Repeated again{first.record};
  again.deliveries = first.deliveries;
  again.ignored = first.ignored;
  again.unhandled = first.unhandled;
  if (first.is_untaken()) again.untaken = untaken_again(world, event, first);
  again.unrouted = first.deliveries + first.ignored == 0;
  return again;
}

// Time never goes back for ids.
std::uint64_t now_ns(const WorldState& world) {
  return std::max(world.latest_ns, world.tick->time_ns);
}

// What a record has was accepted, however long ids were remembered then.
std::optional<KnownEvent> find_known(WorldState& world, std::string_view id) {
  if (world.replaying) return std::nullopt;
  if (EventSource* source = source_of(world.sources, id)) {
    if (const auto known = source->ids.find(world.blobs, id, now_ns(world))) return known;
  }
  // Also of a source: from before it was known.
  return world.event_ids.find(world.blobs, id, now_ns(world));
}

// An event for a workflow whose code does not fit waits outside until it does.
std::optional<Refused> find_unfit(const WorldState& world, const Targets& targets) {
  for (const Target& target : targets.all) {
    const WorkflowProgram& workflow = world.program->workflow(target.workflow);
    if (!workflow.objection.empty()) {
      return Refused{base::ErrorCode::kConflict,
                     "the code of '" + workflow.name + "' does not fit: " + workflow.objection};
    }
  }
  return std::nullopt;
}

// The instance that the key of a start belongs to has ended, and that is the answer. Nothing: it
// has not.
std::optional<Answer> return_ended(WorldState& world, const EventArrived& event) {
  const auto workflow = world.program->workflow_named(event.workflow);
  if (!workflow) return std::nullopt;
  const base::Hash id = key_hash(event.key);
  const Cell* cell = world.cells[version_of(world, *workflow, id)].find(id);
  if (cell == nullptr || !cell->terminal()) return std::nullopt;
  ++world.counters.repeated_events;
  return Repeated{cell->last_record};
}

}  // namespace

Answer reduce_event(WorldState& world, const EventArrived& event) {
  if (!is_text(event.id, kMaxEventIdBytes))
    return Refused{base::ErrorCode::kInvalid, "the event id is too long, or not UTF-8"};
  if (!event.trace.empty() && !base::TraceContext::of(event.trace))
    return Refused{base::ErrorCode::kInvalid, "the trace of the event is none"};
  if (event.workflow.empty() && (!event.key.empty() || event.starts))
    return Refused{base::ErrorCode::kInvalid, "a key is for an event that names its workflow"};
  if (event.reuse != KeyReuse::kRefuse && !event.starts)
    return Refused{base::ErrorCode::kInvalid,
                   "a key is reused by an event that starts an instance"};
  if (!event.id.empty()) {
    if (const auto first = find_known(world, event.id)) return answer_again(world, event, *first);
  }
  const EventProgram* program = find_event(world, event);
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
  if (!found && event.reuse == KeyReuse::kReturnEnded &&
      refusal.code == base::ErrorCode::kConflict) {
    if (auto ended = return_ended(world, event)) return std::move(*ended);
  }
  if (!found) return refusal;

  if (world.program->has_objections() && !world.replaying) {
    if (auto unfit = find_unfit(world, targets)) return std::move(*unfit);
  }
  if (event.reuse == KeyReuse::kStartAgain) {
    Target& target = targets.all.front();
    if (Cell* const ended = std::exchange(target.cell, nullptr))
      end_life(world, *ended, target.workflow);
  }
  world.trace = event.trace;
  for (const Target& target : targets.all) deliver_event(world, *program, event.value, target);
  world.draft.addressed = world.draft.touched_count();
  if (!event.id.empty()) {
    const KnownEvent known{world.next_record, fingerprint_of(event), world.draft.deliveries,
                           world.draft.ignored};
    EventSource* const source = source_of(world.sources, event.id);
    (source == nullptr ? world.event_ids : source->ids).add(event.id, known, now_ns(world));
    world.counters.forgotten_event_ids = world.event_ids.forgotten_early();
    for (const EventSource& each : world.sources)
      world.counters.forgotten_event_ids += each.ids.forgotten_early();
  }
  if (targets.all.empty()) note(world, "event.unrouted", {program->schema_name});
  return Accepted{0, world.draft.deliveries, world.draft.ignored, targets.all.empty()};
}

}  // namespace holdfast::kernel
