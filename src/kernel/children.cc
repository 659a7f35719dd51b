// SPDX-License-Identifier: Apache-2.0
// Instances that run for others. An effect sys/workflow.run@1 is performed here, in the record that
// opens it: its event starts an instance, which keeps the effect it runs for; when it has ended,
// however it did, the effect settles in the same record. Nothing here calls itself: a child has its
// turn like anybody else, and so has one that is given up. So the budgets of a tick hold for
// families of any size.
#include <utility>

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "kernel/cell_codec.h"
#include "kernel/effect_error.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// The params were checked: the fields are there.
std::string_view text_in(base::ByteView params, std::string_view field) {
  const auto found = codec::View::of(params).find(field);
  return found ? found->text().value_or(std::string_view()) : std::string_view();
}
base::ByteView bytes_in(base::ByteView params, std::string_view field) {
  const auto found = codec::View::of(params).find(field);
  return found ? found->bytes().value_or(base::ByteView()) : base::ByteView();
}

// Settles an effect of this instance, which hears of it.
void answer(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent,
            ReceiptStatus status, base::ByteView value) {
  auto letter = receipt_letter(world, cell, hash, intent, status, value);
  ++world.draft.quiet_intents;
  settle(world, cell, hash, status);
  if (letter) deliver(world, cell, std::move(letter));
}

void answer_error(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent,
                  ReceiptStatus status, std::string_view code, std::string_view message) {
  codec::Buffer error;
  write_effect_error(error, code, message);
  answer(world, cell, hash, intent, status, error.view());
}

// The receipt of a child that has completed.
void write_result(codec::Buffer& receipt, base::ByteView result) {
  codec::write_map_head(receipt, 1);
  codec::write_text(receipt, "result");
  codec::write_bytes(receipt, result);
}

struct Child {
  const EventProgram* event = nullptr;
  base::ByteView value;
  Targets targets{Targets::From::kStep};  // the one
};

// Who would be started, and with what. False: `refusal` says why nobody is.
bool find_child(WorldState& world, const Intent& intent, Child& child, Refused& refusal) {
  const std::string_view schema = text_in(intent.params(), "event");
  child.event = world.program->event(schema);
  if (child.event == nullptr) {
    refusal = {base::ErrorCode::kInvalid, "the manifest has no schema '" + shown(schema) + "'"};
    return false;
  }
  const base::ByteView value = bytes_in(intent.params(), "value");
  const auto made = world.normaliser.part_from_cbor(child.event->schema, value);
  if (!made) {
    refusal = {base::ErrorCode::kInvalid, "the event: " + made.error().to_string()};
    return false;
  }
  child.value = made->data() == value.data() ? value : world.draft.keep(*made);
  EventArrived start{schema, child.value, {}};
  const ChildName name = child_named_by(intent);
  start.workflow = name.workflow;
  start.key = name.key;
  start.starts = true;
  return find_addressee(world, start, child.targets, refusal);
}

std::string_view code_of(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::kNotFound: return kUnknownWorkflow;
    case base::ErrorCode::kConflict: return kKeyTaken;
    case base::ErrorCode::kUnavailable: return kNoRoomToRun;
    default: return kBadStart;
  }
}

// Null: there is none.
Cell* child_of(WorldState& world, const Intent& intent) {
  const ChildName name = child_named_by(intent);
  const auto workflow = world.program->workflow_named(name.workflow);
  if (!workflow) return nullptr;
  const base::Hash id = key_hash(name.key);
  return world.cells[version_of(world, *workflow, id)].find(id);
}

// An effect that is opened again finds the child that ran for it before. One that has completed is
// the answer; one that failed, or was cancelled with its parent, begins again. False: none is there
// that has ended.
bool take_ended_child(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent) {
  Cell* const child = child_of(world, intent);
  if (child == nullptr || !child->terminal()) return false;
  const auto workflow = world.program->workflow_named(child_named_by(intent).workflow);
  if (child->phase != Phase::kCompleted) return end_life(world, *child, *workflow), false;
  const auto result = world.cells[child->workflow].outcome_of(*child);
  if (!result) {
    contradiction(world, "the result of a child cannot be read");
    return true;
  }
  codec::Buffer receipt;
  write_result(receipt, *result);
  answer(world, cell, hash, intent, ReceiptStatus::kOk, receipt.view());
  return true;
}

void run_workflow(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent) {
  const std::uint32_t depth = cell.run_by ? cell.run_by->depth + 1 : 1;
  if (depth > kMaxChildDepth) {
    return answer_error(world, cell, hash, intent, ReceiptStatus::kError, kTooDeep,
                        "more than 64 instances would wait for each other in a row");
  }
  if (world.reopening && take_ended_child(world, cell, hash, intent)) return;
  Child child;
  Refused refusal;
  if (!find_child(world, intent, child, refusal)) {
    return answer_error(world, cell, hash, intent, ReceiptStatus::kError, code_of(refusal.code),
                        refusal.message);
  }
  Cell& begun = deliver_event(world, *child.event, child.value, child.targets.all.front());
  begun.run_by = RunBy{hash, depth};
}

// No code is run for it, so it needs no message; but it waits for its turn, as what it has open may
// be much.
void doom(WorldState& world, Cell& cell) {
  if (cell.doomed) return;
  cell.doomed = true;
  if (!cell.ready) line_up(world, cell);
  world.cells[cell.workflow].changed(cell);
}

void stop_workflow(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent) {
  Cell* child = child_of(world, intent);
  const Intent* runs = child == nullptr || !child->run_by
                           ? nullptr
                           : world.intents.find(world.blobs, child->run_by->intent);
  const bool is_own =
      runs != nullptr && runs->workflow() == cell.workflow && runs->cell() == cell.id;
  if (is_own) doom(world, *child);
  codec::Buffer receipt;
  codec::write_map_head(receipt, 1);
  codec::write_text(receipt, "stopped");
  codec::write_bool(receipt, is_own);
  answer(world, cell, hash, intent, ReceiptStatus::kOk, receipt.view());
}

}  // namespace

ChildName child_named_by(const Intent& intent) {
  return {text_in(intent.params(), "workflow"), bytes_in(intent.params(), "key")};
}

void perform_in_kernel(WorldState& world, Cell& cell, const base::Hash& hash,
                       const Intent& intent) {
  if (world.program->effect(intent.effect()).in_kernel == InKernel::kRunWorkflow)
    return run_workflow(world, cell, hash, intent);
  stop_workflow(world, cell, hash, intent);
}

void tell_end(WorldState& world, Cell& cell) {
  const base::Hash hash = cell.run_by->intent;
  cell.run_by.reset();
  const Intent* intent = world.intents.find(world.blobs, hash);
  if (intent == nullptr) return contradiction(world, "an instance runs for an effect that is over");
  Cell* parent = cell_of(world, *intent);
  if (parent == nullptr) return;
  switch (cell.phase) {
    case Phase::kCompleted: {
      codec::Buffer receipt;
      write_result(receipt, cell.outcome);
      return answer(world, *parent, hash, *intent, ReceiptStatus::kOk, receipt.view());
    }
    case Phase::kFailed:
      return answer(world, *parent, hash, *intent, ReceiptStatus::kError, cell.outcome);
    case Phase::kCancelled:
      return answer_error(world, *parent, hash, *intent, ReceiptStatus::kCancelled,
                          kWorkflowCancelled, "the instance was cancelled");
    case Phase::kActive:
      return answer_error(world, *parent, hash, *intent, ReceiptStatus::kError, kWorkflowDeleted,
                          "the instance was deleted before it had a result");
  }
}

void give_up_child(WorldState& world, const base::Hash& hash, const Intent& intent) {
  Cell* child = child_of(world, intent);
  if (child == nullptr || !child->run_by || child->run_by->intent != hash)
    return contradiction(world, "an effect runs an instance that does not run for it");
  child->run_by.reset();
  world.cells[child->workflow].changed(*child);  // also if it is doomed already
  doom(world, *child);
}

std::optional<Refused> refuse_in_kernel(const WorldState& world, const Intent& intent) {
  if (world.program->effect(intent.effect()).in_kernel == InKernel::kNo) return std::nullopt;
  return Refused{base::ErrorCode::kConflict,
                 "an instance runs for this effect; when that has ended, it settles by itself"};
}

}  // namespace holdfast::kernel
