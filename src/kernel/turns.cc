// SPDX-License-Identifier: Apache-2.0
// Ready instances take turns, one message each: fair, and in an order that only depends on the
// order in which mail arrived.
#include <memory>
#include <optional>
#include <utility>

#include "kernel/record.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Whether the tick may do one more step. The first one always: most ticks have no other.
bool has_budget(const Draft& draft) noexcept {
  return draft.steps == 0 ||
         (draft.steps < kMaxDeliveriesPerTick && draft.weight() < kMaxTickOutputBytes);
}

// The step was not taken: the message is in its place again, and the turn is over.
void give_turn_back(WorldState& world, Cell& cell, std::unique_ptr<Letter> letter) {
  world.mail_bytes += letter->weight;
  if (cell.ready) leave_line(world, cell);
  cell.mail.put_back(std::move(letter));
}

void wait_for_room(WorldState& world, Cell& cell, const CellName& of) {
  const CellName name = name_of(cell);
  const CellName* before = world.waiting.room_wanted_by(name);
  if (before != nullptr && *before == of) return;  // it keeps its place
  stop_waiting(world, name);
  world.waiting.add(name, of);
}

// One message of an instance.
void take_turn(WorldState& world, Cell& cell, std::unique_ptr<Letter> letter) {
  const std::optional<PutAway> away = letter->mail.away;
  lighten(world, letter->weight);
  // Back in the line before the step: the step may end or delete the cell.
  if (!cell.mail.empty()) line_up(world, cell);
  // Nobody begins to wait during a step.
  const std::optional<CellName> name =
      world.waiting.empty() ? std::nullopt : std::optional(name_of(cell));
  const StepEnd end = step(world, cell, letter->mail, world.draft.steps++);
  if (end.kind == StepEnd::Kind::kDone) {
    world.letters.give_back(std::move(letter));
    if (!name) return;
    stop_waiting(world, *name);
    return tell_room(world, *name);
  }
  if (away) {
    letter->mail.value = {};
    letter->mail.away = away;
  }
  give_turn_back(world, cell, std::move(letter));
  if (end.kind == StepEnd::Kind::kHalted) {
    // With its message, until it is resumed.
    cell.paused = true;
    if (name) stop_waiting(world, *name);
    return;
  }
  world.draft.used_rules_2 = true;
  if (end.kind == StepEnd::Kind::kWaits) return wait_for_room(world, cell, end.for_room_of);
  if (name) stop_waiting(world, *name);
  // An answer cannot be held back, so this happens once.
  if (cell.mail.has_answers()) take_turn(world, cell, cell.mail.take_answer());
}

}  // namespace

void take_turns(WorldState& world) {
  while (has_budget(world.draft)) {
    if (!world.waiting.empty()) tell_room(world, kWholeWorld);
    Cell* cell = world.ready.oldest();
    if (cell == nullptr) break;
    leave_line(world, *cell);
    if (cell->doomed) {
      ++world.draft.steps;
      end(world, *cell, Phase::kCancelled, {});
      continue;
    }
    if (cell->paused || cell->mail.empty()) continue;
    take_turn(world, *cell, cell->mail.take_front());
  }
  // Nothing else would bring the turn of one that waits for room in the world.
  if (world.ready.empty() && !world.waiting.empty()) tell_room(world, kWholeWorld);
  if (!world.ready.empty()) world.draft.commands.emplace_back(ContinueSoon{});
  if (world.draft.used_rules_4) {
    note(world, kRules4, {});
  } else if (world.draft.used_rules_3) {
    note(world, kRules3, {});
  } else if (world.draft.used_rules_2) {
    note(world, kRules2, {});
  }
}

}  // namespace holdfast::kernel
