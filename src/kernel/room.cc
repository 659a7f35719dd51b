// SPDX-License-Identifier: Apache-2.0
// Room for mail that instances send each other. A step whose mail finds no room is not taken: its
// instance keeps its state and its message, and waits until there is room (kernel/waiting.h). So a
// mailbox that is full, because its instance is paused or slow, fails nobody.
//
// Instances that would wait for each other in a circle would do so for ever. The step that would
// close the circle is taken, and its mail passes the limit.
#include <string>
#include <utility>

#include "kernel/record_view.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// A message that is passed on may become a little larger.
constexpr std::size_t kPassedOnBytes = 1024;

bool is_full(const WorldState& world, const Cell& cell) {
  return cell.mail.counted() >= world.options.mail_per_instance ||
         cell.mail.counted_bytes() >= kMaxMailBytesPerInstance ||
         (world.is_parked(cell) && world.parked_bytes() >= kMaxParkedMailBytes);
}

bool has_room_in_circle(const WorldState& world, const Cell* cell) {
  constexpr std::size_t kTimes = kMaxMailInCircle / kMaxMailPerInstance;
  return cell == nullptr || (cell->mail.counted() < kTimes * world.options.mail_per_instance &&
                             cell->mail.counted_bytes() < kMaxMailBytesInCircle);
}

// `passes_on`: the step takes about as much mail as it sends.
Room room_at(const WorldState& world, const CellName& sender, const Target& target,
             bool passes_on) {
  const CellName name{target.workflow, target.id};
  const CellName* first = world.waiting.empty() ? nullptr : world.waiting.first_for(name);
  const bool is_behind = first != nullptr && *first != sender;
  if (!is_behind && (target.cell == nullptr || !is_full(world, *target.cell))) return {};
  const Waiting::Way way = world.waiting.leads_to(name, sender);
  if (way == Waiting::Way::kNo) return {Room::Verdict::kWaits, name};
  if (passes_on || has_room_in_circle(world, target.cell)) return {};
  // The whole way is followed only here: few mailboxes have so much mail.
  const bool is_long = way == Waiting::Way::kTooLong;
  if (is_long && !(world.has_rules_4 && world.waiting.leads_far_to(name, sender)))
    return {Room::Verdict::kWaits, name};
  const std::string& workflow = world.program->workflow(target.workflow).name;
  return {Room::Verdict::kNever, name,
          "instances send each other more mail than they take: " +
              std::to_string(target.cell->mail.counted()) + " messages wait for " +
              instance_text(workflow, target.key),
          is_long};
}

// Of what the step sends, and of what starts the instances that it runs.
std::size_t bytes_of(const WorldState& world, const Plan& plan) {
  std::size_t bytes = plan.targets.bytes;
  for (const Plan::Effect& effect : plan.effects) {
    if (world.program->effect(effect.allowed->effect).in_kernel == InKernel::kRunWorkflow)
      bytes += Mail::kBesides + effect.params.size();
  }
  return bytes;
}

}  // namespace

// Once the others have taken their turns no mail of theirs is ready, so there is room in the world
// for the mail of any one step that may be taken at all.
Room room_for(const WorldState& world, const Cell& sender, const Mail& taken, const Plan& plan) {
  const CellName name = name_of(sender);
  const bool passes_on =
      plan.targets.all.size() == 1 && plan.targets.bytes <= taken.weight() + kPassedOnBytes;
  for (const Target& target : plan.targets.all) {
    if (target.bytes == 0) continue;
    Room room = room_at(world, name, target, passes_on);
    if (room.verdict != Room::Verdict::kYes) return room;
  }
  const std::size_t bytes = bytes_of(world, plan);
  // What waits for the sender itself does not count: nothing else would ever make that less.
  const std::uint64_t others = world.ready_bytes - (sender.ready ? sender.mail.bytes() : 0);
  if (bytes > kMaxMailBytesWithEmitted)
    return {Room::Verdict::kNever, kWholeWorld, "a step sends more mail than a world holds"};
  if (others == 0 || others + bytes <= kMaxMailBytesWithEmitted) return {};
  if (world.parked_bytes() <= kMaxParkedMailBytes) return {Room::Verdict::kWaits, kWholeWorld};
  return {Room::Verdict::kNever, kWholeWorld, "too much mail waits in the whole world"};
}

void tell_room(WorldState& world, const CellName& of) {
  if (world.waiting.empty()) return;
  const CellName* first = world.waiting.first_for(of);
  if (first == nullptr) return;
  if (of == kWholeWorld) {
    if (world.ready_bytes > kMaxMailBytesWithEmitted / 2) return;
  } else {
    const Cell* full = world.cells[of.first].find(of.second);
    if (full != nullptr && !full->terminal() && is_full(world, *full)) return;
  }
  Cell* cell = world.cells[first->first].find(first->second);
  if (cell == nullptr) return contradiction(world, "an instance that is gone waits for room");
  if (!cell->ready) line_up(world, *cell);
}

void stop_waiting(WorldState& world, const CellName& who) {
  if (world.waiting.empty()) return;
  if (const auto of = world.waiting.remove(who)) tell_room(world, *of);
}

}  // namespace holdfast::kernel
