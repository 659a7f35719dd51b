// SPDX-License-Identifier: Apache-2.0
// Who gets an event: subscriptions in manifest order, each with a key of its own.
#include <utility>

#include "codec/view.h"
#include "defs/system_names.h"
#include "kernel/cell_codec.h"
#include "kernel/envelope.h"
#include "kernel/record_view.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

std::optional<codec::View> follow(codec::View value, const std::vector<std::string>& path) {
  for (const std::string& step : path) {
    const auto next = value.find(step);
    if (!next) return std::nullopt;
    value = *next;
  }
  return value;
}

// What came of an effect is for the world alone to say: an event in that form would be taken for a
// receipt that nobody gave.
bool may_be_sent(const WorkflowProgram& workflow, std::string_view schema, base::ByteView value,
                 Refused& refusal) {
  const Arm* arm = arm_inside(workflow, schema, value);
  if (arm != nullptr) schema = arm->schema;
  if (schema != defs::kReceiptEnvelope && schema != defs::kReceiptRejected &&
      schema != defs::kStreamFrame)
    return true;
  refusal = {base::ErrorCode::kInvalid, "what came of an effect cannot be sent as an event"};
  return false;
}

// Whether the key fits the workflow; `target` then has it.
bool take_key(WorldState& world, const WorkflowProgram& workflow, base::ByteView key,
              Target& target, Refused& refusal) {
  const auto made = world.normaliser.part_from_cbor(*workflow.key, key);
  if (!made) {
    refusal = {base::ErrorCode::kInvalid,
               "the key does not fit '" + workflow.name + "': " + made.error().to_string()};
    return false;
  }
  target.key = made->data() == key.data() ? key : world.draft.keep(*made);
  if (target.key.size() <= kMaxKeyBytes) return true;
  refusal = {base::ErrorCode::kTooLarge, "the key for '" + workflow.name + "' is too long"};
  return false;
}

// The instance of the key, and what the event will weigh in its mailbox.
void find_cell(WorldState& world, std::string_view schema, base::ByteView value, Target& target) {
  target.id = key_hash(target.key);
  target.workflow = version_of(world, target.workflow, target.id);
  target.cell = world.cells[target.workflow].find(target.id);
  const bool ignores =
      target.cell != nullptr && (target.cell->terminal() || !takes(world, target, schema, value));
  target.bytes = ignores ? 0 : Mail::kBesides + value.size();
}

}  // namespace

bool has_room(const WorldState& world, const Target& target, Targets& planned, Refused& refusal) {
  // What a record has was admitted.
  if (target.bytes == 0 || world.replaying) return true;
  const auto refuse = [&](std::string what) {
    refusal = {base::ErrorCode::kUnavailable, std::move(what)};
    return false;
  };
  const bool is_parked = target.cell != nullptr && world.is_parked(*target.cell);
  const std::size_t more = planned.bytes + target.bytes;
  if (is_parked ? world.parked_bytes() + more > kMaxParkedMailBytes
                : world.ready_bytes + more > kMaxMailBytes)
    return refuse("too much mail waits in the whole world");
  const Cell* cell = target.cell;
  const auto fits = [&](const Targets::Sum& also) {
    const std::size_t messages = also.messages + (cell == nullptr ? 0 : cell->mail.counted());
    const std::size_t bytes = also.bytes + (cell == nullptr ? 0 : cell->mail.counted_bytes());
    return messages < world.options.mail_per_instance &&
           bytes + target.bytes <= kMaxMailBytesPerInstance;
  };
  // Those that wait already come first.
  const bool has_line =
      !world.waiting.empty() && world.waiting.first_for({target.workflow, target.id}) != nullptr;
  if (!has_line &&
      (fits({planned.all.size(), planned.bytes}) || fits(planned.for_instance_of(target))))
    return true;
  const std::string& workflow = world.program->workflow(target.workflow).name;
  return refuse("too much mail waits for " + instance_text(workflow, target.key) +
                (cell != nullptr && cell->paused ? ", which is paused" : ""));
}

bool had_room_before(const WorldState& world, const Target& target, Targets& planned,
                     std::string& why) {
  if (target.bytes == 0) return true;
  if (world.mail_bytes + planned.bytes + target.bytes > kMaxMailBytesWithEmitted) {
    why = "too much mail waits in the whole world";
    return false;
  }
  const auto fits = [&](Targets::Sum also) {
    if (target.cell != nullptr) {
      also.messages += target.cell->mail.size();
      also.bytes += target.cell->mail.bytes();
    }
    return also.messages < kMailPerInstanceBefore &&
           also.bytes + target.bytes <= kMaxMailBytesPerInstance;
  };
  if (fits({planned.all.size(), planned.bytes}) || fits(planned.for_instance_of(target)))
    return true;
  why = "too much mail waits for an instance of '" + world.program->workflow(target.workflow).name +
        "'";
  return false;
}

namespace {

// For a step this is not the place to wait: who sends it may be about to fail for another reason.
bool may_go(WorldState& world, const Target& target, Targets& planned, Refused& refusal) {
  if (planned.from == Targets::From::kOutside) return has_room(world, target, planned, refusal);
  std::string why;
  if (had_room_before(world, target, planned, why)) return true;
  if (world.has_rules_2) return world.draft.used_rules_2 = true;
  refusal = {base::ErrorCode::kUnavailable, std::move(why)};
  return false;
}

}  // namespace

bool find_targets(WorldState& world, const EventProgram& event, base::ByteView value,
                  Targets& targets, Refused& refusal) {
  for (const Route& route : event.routes) {
    const WorkflowProgram& workflow = world.program->workflow(route.workflow);
    Target target{route.workflow};
    if (!may_be_sent(workflow, event.schema_name, value, refusal)) return false;
    if (workflow.key) {
      const auto found = follow(codec::View::of(value), route.key_path);
      if (!found) {
        refusal = {base::ErrorCode::kInvalid, "the event has no key for '" + workflow.name + "'"};
        return false;
      }
      if (!take_key(world, workflow, found->encoded(), target, refusal)) return false;
    }
    find_cell(world, event.schema_name, value, target);
    if (!may_go(world, target, targets, refusal)) return false;
    targets.add(target);
  }
  return true;
}

bool find_addressee(WorldState& world, const EventArrived& event, Targets& targets,
                    Refused& refusal) {
  const auto index = world.program->workflow_named(event.workflow);
  if (!index) {
    refusal = {base::ErrorCode::kNotFound,
               "the manifest has no workflow '" + shown(event.workflow) + "'"};
    return false;
  }
  const WorkflowProgram& workflow = world.program->workflow(*index);
  if (workflow.event != event.schema && workflow.arm_of_schema(event.schema) == nullptr) {
    refusal = {base::ErrorCode::kInvalid, "'" + std::string(event.schema) +
                                              "' is neither the event type of '" + workflow.name +
                                              "' nor an arm of it"};
    return false;
  }
  if (!may_be_sent(workflow, event.schema, event.value, refusal)) return false;
  Target target{*index};
  if (workflow.key) {
    if (!take_key(world, workflow, event.key, target, refusal)) return false;
    if (!base::equal(target.key, event.key)) {
      refusal = {base::ErrorCode::kInvalid, "the key is not in its canonical form"};
      return false;
    }
  }
  if (!workflow.key && !event.key.empty()) {
    refusal = {base::ErrorCode::kInvalid, "'" + workflow.name + "' has no key"};
    return false;
  }
  find_cell(world, event.schema, event.value, target);
  const bool begins_again =
      event.reuse == KeyReuse::kStartAgain && target.cell != nullptr && target.cell->terminal();
  if (begins_again) {
    target.workflow = *index;
    target.bytes = Mail::kBesides + event.value.size();
  }
  if (event.starts && target.cell != nullptr && !begins_again) {
    refusal = {base::ErrorCode::kConflict, instance_text(workflow.name, target.key) + " exists (" +
                                               std::string(name_of(target.cell->status())) + ")"};
    return false;
  }
  if (!may_go(world, target, targets, refusal)) return false;
  targets.add(target);
  return true;
}

}  // namespace holdfast::kernel
