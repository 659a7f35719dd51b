// SPDX-License-Identifier: Apache-2.0
// Who gets an event: subscriptions in manifest order, each with a key of its own.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "codec/view.h"
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

// The arm that an event stands for, if it came inside the workflow's variant.
const Arm* arm_inside(const WorkflowProgram& workflow, const EventProgram& event,
                      base::ByteView value) {
  if (workflow.event != event.schema_name || workflow.arms.empty()) return nullptr;
  const Arm* arm = workflow.arm_of_tag(*codec::View::of(value).find("$tag")->text());
  CHECK(arm != nullptr);
  return arm;
}

// What came of an effect is for the world alone to say: an event in that form would be taken for a
// receipt that nobody gave.
bool is_answer(std::string_view schema) {
  return schema == "sys/EffectReceiptEnvelope@1" || schema == "sys/EffectReceiptRejected@1" ||
         schema == "sys/EffectStreamFrame@1";
}

}  // namespace

bool find_targets(WorldState& world, const EventProgram& event, base::ByteView value,
                  std::vector<Target>& targets, Refused& refusal) {
  for (const Route& route : event.routes) {
    const WorkflowProgram& workflow = world.program->workflow(route.workflow);
    Target target{route.workflow, {}};
    const Arm* arm = arm_inside(workflow, event, value);
    if (is_answer(arm != nullptr ? arm->schema : event.schema_name)) {
      refusal = {base::ErrorCode::kInvalid, "what came of an effect cannot be sent as an event"};
      return false;
    }
    if (workflow.key) {
      const auto found = follow(codec::View::of(value), route.key_path);
      if (!found) {
        refusal = {base::ErrorCode::kInvalid, "the event has no key for '" + workflow.name + "'"};
        return false;
      }
      const auto key =
          world.normaliser.from_cbor(*workflow.key, found->encoded(), codec::Strictness::kLenient);
      if (!key) {
        refusal = {base::ErrorCode::kInvalid,
                   "the key does not fit '" + workflow.name + "': " + key.error().to_string()};
        return false;
      }
      target.key.assign(key->begin() + sizeof codec::kSelfDescribe, key->end());
      if (target.key.size() > kMaxKeyBytes) {
        refusal = {base::ErrorCode::kTooLarge, "the key for '" + workflow.name + "' is too long"};
        return false;
      }
    }
    const Cell* cell = world.cells[route.workflow].find(target.key);
    if (cell != nullptr && cell->mail.size() + targets.size() >= kMaxMailPerInstance) {
      refusal = {base::ErrorCode::kUnavailable,
                 "too much mail waits for an instance of '" + workflow.name + "'"};
      return false;
    }
    targets.push_back(std::move(target));
  }
  return true;
}

Answer unreadable(const WorldState& world) {
  const bool failed = std::any_of(world.cells.begin(), world.cells.end(),
                                  [](const Cells& cells) { return cells.failure().has_value(); });
  CHECK(failed);  // an open intent has an instance
  return Refused{base::ErrorCode::kIo, "an instance could not be read"};
}

Cell& instance(WorldState& world, std::uint32_t workflow, base::ByteView key) {
  Cell* cell = world.cells[workflow].find(key);
  return cell != nullptr ? *cell : world.cells[workflow].create(key);
}

void deliver(WorldState& world, Cell& cell, Mail mail) {
  Touched& touched = touch(world, cell);
  if (cell.terminal()) {
    ++touched.ignored;
    ++world.draft.ignored;
    return;
  }
  ++world.draft.deliveries;
  cell.mail.push_back(std::move(mail));
  if (cell.ready || cell.paused) return;
  cell.ready = true;
  world.ready.push_back(&cell);
}

void deliver_event(WorldState& world, const EventProgram& event, base::ByteView value,
                   const Target& target) {
  Mail mail;
  mail.schema = event.schema_name;
  // A machine sees the arm, whether the event came as such or inside the workflow's variant.
  const WorkflowProgram& workflow = world.program->workflow(target.workflow);
  if (const Arm* arm = arm_inside(workflow, event, value)) {
    mail.schema = arm->schema;
    value = codec::View::of(value).find("$value")->encoded();
  }
  mail.value.assign(value.begin(), value.end());
  deliver(world, instance(world, target.workflow, target.key), std::move(mail));
}

Touched& touch(WorldState& world, Cell& cell) {
  auto& all = world.draft.touched;
  if (cell.touched == 0) {
    Touched entry;
    entry.workflow = world.program->workflow(cell.workflow).name;
    entry.key = cell.key;
    entry.previous_record = cell.last_record;
    entry.cell = &cell;
    all.push_back(std::move(entry));
    cell.touched = static_cast<std::uint32_t>(all.size());
  }
  return all[cell.touched - 1];
}

}  // namespace holdfast::kernel
