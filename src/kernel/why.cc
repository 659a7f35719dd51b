// SPDX-License-Identifier: Apache-2.0
#include "kernel/why.h"

#include "codec/view.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

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
  return reason;
}

std::vector<Reason> reasons_of(WorldState& world, const Cell& cell) {
  std::vector<Reason> reasons;
  if (cell.terminal()) return reasons;
  if (cell.paused) {
    reasons.emplace_back(IsPaused{cell.mail.size()});
  } else if (!cell.mail.empty()) {
    reasons.emplace_back(WaitsForTurn{cell.mail.size()});
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
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return reasons;
}

namespace {

base::Result<std::vector<InstanceName>> find_orphans(WorldState& world, std::size_t limit) {
  std::vector<InstanceName> found;
  for (Cells& cells : world.cells) {
    if (found.size() == limit) break;
    TRY(cells.flush());
    TRY(cells.visit([&](const Cell& cell) {
      if (!cell.intents.empty()) return true;  // nothing to look up: it waits for them
      const std::vector<Reason> reasons = reasons_of(world, cell);
      if (reasons.size() != 1 || !std::holds_alternative<WaitsForNothing>(reasons[0])) return true;
      found.push_back({world.program->workflow(cell.workflow).name, cell.key});
      return found.size() < limit;
    }));
  }
  return found;
}

}  // namespace

base::Result<std::vector<InstanceName>> World::orphans(std::size_t limit) {
  auto found = find_orphans(*state_, limit);
  if (!found && !failure_of(*state_)) state_->failure = std::move(found).error();
  trim(*state_);
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return found;
}

}  // namespace holdfast::kernel
