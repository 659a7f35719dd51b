// SPDX-License-Identifier: Apache-2.0
// Messages go into mailboxes; whoever gets one is touched by the tick.
#include <memory>
#include <utility>

#include "codec/cbor_head.h"
#include "codec/view.h"
#include "kernel/envelope.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

void deliver(WorldState& world, Cell& cell, std::unique_ptr<Letter> letter) {
  Touched& touched = touch(world, cell);
  if (cell.terminal()) {
    ++touched.ignored;
    ++world.draft.ignored;
    return;
  }
  ++world.draft.deliveries;
  const std::size_t before = cell.mail.bytes();
  // An instance whose mail waits, and whose turn does not come, waits for room, or holds events
  // back until it has an answer.
  const bool holds = !cell.mail.empty() && (letter->mail.kind == MailKind::kEvent ||
                                            world.waiting.contains(name_of(cell)));
  cell.mail.push_back(std::move(letter));
  const std::size_t more = cell.mail.bytes() - before;
  world.mail_bytes += more;
  if (cell.ready) {
    world.ready_bytes += more;
  } else if (!cell.paused && !holds) {
    line_up(world, cell);
  }
}

bool takes(const WorldState& world, const Target& target, std::string_view schema,
           base::ByteView value) {
  const WorkflowProgram& workflow = world.program->workflow(target.workflow);
  if (!workflow.is_pinned || workflow.arm_of_schema(schema) != nullptr) return true;
  if (workflow.event != schema) return false;
  return workflow.arms.empty() || arm_inside(workflow, schema, value) != nullptr;
}

Cell& deliver_event(WorldState& world, const EventProgram& event, base::ByteView value,
                    const Target& target) {
  if (target.cell != nullptr && !takes(world, target, event.schema_name, value)) {
    ++touch(world, *target.cell).ignored;
    ++world.draft.ignored;
    return *target.cell;
  }
  std::unique_ptr<Letter> letter = world.letters.take();
  Mail& mail = letter->mail;
  mail.schema = event.schema_name;
  // A machine sees the arm, whether the event came as such or inside the workflow's variant.
  const WorkflowProgram& workflow = world.program->workflow(target.workflow);
  if (const Arm* arm = arm_inside(workflow, event.schema_name, value)) {
    mail.schema = arm->schema;
    const auto inner = codec::View::of(value).find("$value");
    value = inner ? inner->encoded() : base::ByteView(&codec::kNullByte, 1);  // a unit has none
  }
  mail.value.assign(value.begin(), value.end());
  if (target.cell != nullptr) {
    deliver(world, *target.cell, std::move(letter));
    return *target.cell;
  }
  Cell& begun = world.cells[target.workflow].begin(target.id, target.key);
  if (begun.last_record == 0) begun.last_record = world.draft.record_before(begun);
  if (begun.trace.empty()) begun.trace.assign(world.trace.begin(), world.trace.end());
  deliver(world, begun, std::move(letter));
  return begun;
}

Touched& touch(WorldState& world, Cell& cell) {
  if (cell.touched != 0) return world.draft.touched(cell.touched - 1);
  return world.draft.add(world.program->workflow(cell.workflow).name, cell);
}

}  // namespace holdfast::kernel
