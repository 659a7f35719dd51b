// SPDX-License-Identifier: Apache-2.0
// Ready instances take turns, one message each: fair, and in an order that only depends on the
// order in which mail arrived.
#include <memory>
#include <utility>

#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Whether the tick may do one more step. The first one always: most ticks have no other.
bool has_budget(const Draft& draft) noexcept {
  return draft.steps == 0 ||
         (draft.steps < kMaxDeliveriesPerTick && draft.weight() < kMaxTickOutputBytes);
}

// The step was halted: the instance waits, with its message, for somebody who resumes it.
void put_back(WorldState& world, Cell& cell, std::unique_ptr<Letter> letter) {
  if (cell.ready) leave_line(world, cell);
  cell.paused = true;
  cell.mail.push_front(std::move(letter));
  world.mail_bytes += cell.mail.front_weight();
}

}  // namespace

void take_turns(WorldState& world) {
  while (!world.ready.empty() && has_budget(world.draft)) {
    Cell* cell = world.ready.oldest();
    leave_line(world, *cell);
    if (cell->doomed) {
      ++world.draft.steps;
      end(world, *cell, Phase::kCancelled, {});
      continue;
    }
    if (cell->paused || cell->mail.empty()) continue;
    std::unique_ptr<Letter> letter = cell->mail.take_front();
    lighten(world, letter->weight);
    // Back in the line before the step: the step may end or delete the cell.
    if (!cell->mail.empty()) line_up(world, *cell);
    if (step(world, *cell, letter->mail, world.draft.steps++)) {
      world.letters.give_back(std::move(letter));
    } else {
      put_back(world, *cell, std::move(letter));
    }
  }
  if (!world.ready.empty()) world.draft.commands.emplace_back(ContinueSoon{});
}

}  // namespace holdfast::kernel
