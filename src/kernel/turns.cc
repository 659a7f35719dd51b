// SPDX-License-Identifier: Apache-2.0
// Ready instances take turns, one message each: fair, and in an order that only depends on the
// order in which mail arrived.
#include <algorithm>
#include <utility>

#include "kernel/effect_error.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

namespace {

constexpr std::string_view kNotOpen = "an intent that an instance waits for is not open";

}  // namespace

void contradiction(WorldState& world, std::string_view what) {
  // What could not be read is the reason for what does not fit.
  if (!failure_of(world)) world.failure = corrupt(what);
}

void line_up(WorldState& world, Cell& cell) {
  cell.ready = true;
  world.ready.add_newest(cell);
}

void leave_line(WorldState& world, Cell& cell) {
  cell.ready = false;
  world.ready.remove(cell);
}

void lighten(WorldState& world, std::size_t bytes) {
  if (bytes > world.mail_bytes)
    return contradiction(world, "more mail waits than is counted for the world");
  world.mail_bytes -= bytes;
}

void take_turns(WorldState& world) {
  while (!world.ready.empty() && world.draft.steps < kMaxDeliveriesPerTick &&
         world.draft.output_bytes < kMaxTickOutputBytes) {
    Cell* cell = world.ready.oldest();
    leave_line(world, *cell);
    if (cell->paused || cell->mail.empty()) continue;
    std::unique_ptr<Letter> letter = cell->mail.take_front();
    if (letter->mail.away && !world.cells[cell->workflow].bring_back(letter->mail)) return;
    lighten(world, letter->weight);
    // Back in the line before the step: the step may end or delete the cell.
    if (!cell->mail.empty()) line_up(world, *cell);
    step(world, *cell, letter->mail, world.draft.steps++);
    world.letters.give_back(std::move(letter));
  }
  if (!world.ready.empty()) world.draft.commands.emplace_back(ContinueSoon{});
}

// A world that has failed goes on to the end of its tick; nothing of what it does is used.
void settle(WorldState& world, Cell& cell, const base::Hash& intent, ReceiptStatus status) {
  if (world.intents.find(world.blobs, intent) == nullptr) return contradiction(world, kNotOpen);
  touch(world, cell).settled.push_back({intent, status});
  std::erase(cell.intents, intent);
  world.intents.remove(intent);
  if (!world.settled.add(intent, {world.next_record, status}))
    contradiction(world, "an intent settles twice");
}

void abandon(WorldState& world, Cell& cell) {
  const std::vector<base::Hash> open = std::exchange(cell.intents, {});
  for (const base::Hash& hash : open) {
    const Intent* intent = world.intents.find(world.blobs, hash);
    if (intent == nullptr) return contradiction(world, kNotOpen);
    const EffectProgram& effect = world.program->effect(intent->effect());
    settle(world, cell, hash, ReceiptStatus::kCancelled);
    world.draft.commands.emplace_back(
        StopIntent{hash, std::shared_ptr<const EffectProgram>(world.program, &effect)});
  }
}

void end(WorldState& world, Cell& cell, Phase phase, base::Bytes outcome) {
  touch(world, cell).ignored += static_cast<std::uint32_t>(cell.mail.size());
  lighten(world, cell.mail.bytes());
  cell.mail.clear();
  if (cell.ready) leave_line(world, cell);
  abandon(world, cell);
  world.cells[cell.workflow].end(cell, phase);
  cell.paused = false;
  cell.outcome = std::move(outcome);
}

void fail(WorldState& world, Cell& cell, std::string_view code, std::string_view message) {
  codec::Buffer out;
  write_effect_error(out, code, message);
  end(world, cell, Phase::kFailed, out.to_bytes());
}

}  // namespace holdfast::kernel
