// SPDX-License-Identifier: Apache-2.0
// Effects settle, instances end or are deleted; what an instance leaves open is stopped.
#include <algorithm>
#include <memory>
#include <utility>

#include "kernel/effect_error.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

constexpr std::string_view kNotOpen = "an intent that an instance waits for is not open";

// What effects are called by, to be looked into.
class References {
 public:
  References(const StepOutput& output, const std::vector<StepOutput::Slice>& slices) {
    for (const StepOutput::Slice slice : slices) sorted_.push_back(output.text(slice));
    std::sort(sorted_.begin(), sorted_.end());
  }
  bool contain(std::string_view reference) const {
    return std::binary_search(sorted_.begin(), sorted_.end(), reference);
  }

 private:
  std::vector<std::string_view> sorted_;
};

// Settles it as cancelled, and asks for it to be stopped.
void call_off(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent) {
  const EffectProgram& effect = world.program->effect(intent.effect());
  if (effect.in_kernel != InKernel::kNo) {
    give_up_child(world, hash, intent);
    ++world.draft.quiet_intents;
    return settle(world, cell, hash, ReceiptStatus::kCancelled);
  }
  settle(world, cell, hash, ReceiptStatus::kCancelled);
  world.draft.commands.emplace_back(
      StopIntent{hash, std::shared_ptr<const EffectProgram>(world.program, &effect)});
}

}  // namespace

// A world that has failed goes on to the end of its tick; nothing of what it does is used.
void settle(WorldState& world, Cell& cell, const base::Hash& intent, ReceiptStatus status,
            SettledBy by) {
  const Intent* const open = world.intents.find(world.blobs, intent);
  if (open == nullptr) return contradiction(world, kNotOpen);
  const Lease* const lease = open->lease();
  const std::uint64_t dispatch = lease == nullptr ? 0 : lease->dispatch;
  end_lease(world, intent, *open, status, by);
  touch(world, cell).settled.push_back({intent, status});
  cell.intents.remove(intent);
  world.intents.remove(intent);
  if (!world.settled.add(intent, {world.next_record, status, dispatch}))
    contradiction(world, "an intent settles twice");
}

std::unique_ptr<Letter> receipt_letter(WorldState& world, const Cell& cell, const base::Hash& hash,
                                       const Intent& intent, ReceiptStatus status,
                                       base::ByteView value) {
  if (!world.program->workflow(cell.workflow).hears_receipts) return nullptr;
  std::unique_ptr<Letter> letter = world.letters.take();
  Mail& mail = letter->mail;
  mail.kind = MailKind::kReceipt;
  write_origin(world, hash, intent, mail.origin);
  mail.status = status;
  mail.value.assign(value.begin(), value.end());
  return letter;
}

void abandon(WorldState& world, Cell& cell) {
  const IntentOrder open = std::exchange(cell.intents, {});
  for (const base::Hash& hash : open) {
    const Intent* intent = world.intents.find(world.blobs, hash);
    if (intent == nullptr) return contradiction(world, kNotOpen);
    call_off(world, cell, hash, *intent);
  }
}

void cancel_effect(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent,
                   std::string_view code, std::string_view message) {
  codec::Buffer error;
  write_effect_error(error, code, message);
  auto letter = receipt_letter(world, cell, hash, intent, ReceiptStatus::kCancelled, error.view());
  call_off(world, cell, hash, intent);
  if (letter) deliver(world, cell, std::move(letter));
}

void call_off_stopped(WorldState& world, Cell& cell, const StepOutput& output) {
  if (output.stops().empty() && output.asked_to_stop().empty()) return;
  const References given_up(output, output.stops());
  const References asked(output, output.asked_to_stop());
  // Taken out of the cell, so that nobody looks for each of them among all.
  IntentOrder stay;
  const IntentOrder open = std::exchange(cell.intents, {});
  for (const base::Hash& hash : open) {
    const Intent* intent = world.intents.find(world.blobs, hash);
    if (intent == nullptr) return contradiction(world, kNotOpen);
    if (given_up.contain(intent->issuer_ref())) {
      cancel_effect(world, cell, hash, *intent, kGivenUp, "the instance gave it up");
    } else if (!asked.contain(intent->issuer_ref())) {
      stay.push_back(hash);
    } else if (intent->lease() != nullptr) {
      stay.push_back(hash);
      ask_worker_to_stop(world, hash, *intent);
    } else {
      cancel_effect(world, cell, hash, *intent, kStopped, kNobodyHeldIt);
    }
  }
  cell.intents = std::move(stay);
}

void end(WorldState& world, Cell& cell, Phase phase, base::Bytes outcome) {
  Touched& touched = touch(world, cell);
  touched.ignored += static_cast<std::uint32_t>(cell.mail.size());
  touched.ended = true;
  lighten(world, cell.mail.bytes());
  if (cell.ready) leave_line(world, cell);
  cell.mail.clear();
  abandon(world, cell);
  world.cells[cell.workflow].end(cell, phase);
  cell.paused = cell.doomed = false;
  cell.outcome = std::move(outcome);
  if (cell.run_by) tell_end(world, cell);
  stop_waiting(world, name_of(cell));
  tell_room(world, name_of(cell));
}

void fail(WorldState& world, Cell& cell, std::string_view code, std::string_view message) {
  codec::Buffer out;
  write_effect_error(out, code, message);
  world.draft.output_bytes += out.size();
  end(world, cell, Phase::kFailed, out.to_bytes());
}

void end_life(WorldState& world, Cell& cell, std::uint32_t next) {
  const std::uint32_t before = cell.workflow;
  const base::Hash id = cell.id;
  touch(world, cell);
  world.draft.end_life(cell);
  world.draft.carry_over(before, next, id);
  world.cells[before].erase(cell);
}

void remove_instance(WorldState& world, Cell& cell) {
  const std::size_t before = cell.mail.bytes();
  touch(world, cell).ignored += static_cast<std::uint32_t>(
      cell.mail.erase_if([](const Mail& mail) { return mail.kind != MailKind::kEvent; }));
  lighten(world, before - cell.mail.bytes());
  if (cell.ready) world.ready_bytes -= before - cell.mail.bytes();
  abandon(world, cell);
  if (cell.run_by) tell_end(world, cell);
  world.draft.end_life(cell);
  if (!cell.mail.empty()) {
    world.cells[cell.workflow].clear_state(cell);
    touch(world, cell);
    return;
  }
  if (cell.ready) leave_line(world, cell);
  world.cells[cell.workflow].erase(cell);
}

}  // namespace holdfast::kernel
