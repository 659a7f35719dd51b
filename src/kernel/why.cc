// SPDX-License-Identifier: Apache-2.0
#include "kernel/why.h"

#include "codec/view.h"
#include "defs/system_names.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Where it is not known what the program performs by itself, nobody is told to wait for a worker.
bool is_for_workers(const WorldState& world, const EffectProgram& effect) {
  const auto* const here = world.options.performed_here;
  return effect.by_workers &&
         (effect.name == defs::kTaskRun || (here != nullptr && !here->contains(effect.name)));
}

std::optional<Reason> waits_for(WorldState& world, const base::Hash& hash) {
  const Intent* intent = world.intents.find(world.blobs, hash);
  if (intent == nullptr) {
    contradiction(world, "an intent that an instance waits for is not open");
    return std::nullopt;
  }
  const EffectProgram& effect = world.program->effect(intent->effect());
  WaitsForReceipt reason{
      hash, effect.name, effect.executor.kind, intent->opened_at(), intent->opened_ns(), {}};
  if (effect.executor.kind == "timer") {
    const auto due = codec::View::of(intent->params()).find("deliver_at_ns");
    if (due) reason.due_ns = due->nat();
  }
  reason.by_workers = is_for_workers(world, effect) || intent->work != nullptr;
  reason.queued_ns = intent->queued_ns();
  if (intent->work) reason.lease = intent->work->lease;
  if (intent->work) reason.losses = intent->work->losses;
  if (effect.in_kernel == InKernel::kRunWorkflow) {
    const ChildName child = child_named_by(*intent);
    reason.child_workflow = child.workflow;
    reason.child_key.assign(child.key.begin(), child.key.end());
  }
  return reason;
}

WaitsForRoom waits_for_room(WorldState& world, const Cell& cell, const CellName& of) {
  WaitsForRoom reason{cell.mail.size()};
  if (of == kWholeWorld) return reason;
  reason.workflow = world.program->workflow(of.first).name;
  // It may be gone by now; then the turn comes soon.
  if (const Cell* full = world.cells[of.first].find(of.second)) reason.key = full->key;
  return reason;
}

std::vector<Reason> reasons_of(WorldState& world, const Cell& cell) {
  std::vector<Reason> reasons;
  if (cell.terminal()) return reasons;
  if (cell.paused) {
    const WorkflowProgram& version = world.program->workflow(cell.workflow);
    IsPaused paused{cell.mail.size()};
    if (version.is_pinned && !version.objection.empty())
      paused.missing_code = version.hash.to_text() + ": " + version.objection;
    reasons.emplace_back(std::move(paused));
  } else if (const CellName* of = world.waiting.room_wanted_by(name_of(cell))) {
    reasons.emplace_back(waits_for_room(world, cell, *of));
  } else if (cell.ready || cell.doomed) {
    reasons.emplace_back(WaitsForTurn{cell.mail.size()});
  } else if (!cell.mail.empty()) {
    reasons.emplace_back(HoldsEvents{cell.mail.size()});
  }
  for (const base::Hash& intent : cell.intents) {
    if (auto reason = waits_for(world, intent)) reasons.push_back(std::move(*reason));
  }
  if (!reasons.empty()) return reasons;
  const std::vector<std::string>& schemas = world.program->workflow(cell.workflow).woken_by;
  if (schemas.empty()) {
    reasons.emplace_back(WaitsForNothing{});
  } else {
    reasons.emplace_back(WaitsForEvent{schemas});
  }
  return reasons;
}

}  // namespace

base::Result<std::vector<Reason>> World::why(std::string_view workflow, base::ByteView key) {
  const Cell* cell = TRY(find(workflow, key));  // trims, too
  if (cell == nullptr) return std::vector<Reason>();
  std::vector<Reason> reasons = reasons_of(*state_, *cell);
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  return reasons;
}

}  // namespace holdfast::kernel
