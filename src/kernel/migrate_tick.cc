// SPDX-License-Identifier: Apache-2.0
// Instances move from an earlier version of their workflow to the present one. What they have open
// stays open under its identity. The record names those that moved, and a replay moves them again
// with the code of the migration.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernel/cell_codec.h"
#include "kernel/forget_list.h"
#include "kernel/parts_of_cell.h"
#include "kernel/record_view.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// The state as one value, whatever parts it has.
base::Result<base::Bytes> whole_state(WorldState& world, Cell& cell) {
  Cells& cells = world.cells[cell.workflow];
  const auto state = TRY(cells.state_of(cell));
  if (!state) return base::Bytes();
  if (cell.parts.empty()) return base::Bytes(state->begin(), state->end());
  const Machine* const machine = world.program->workflow(cell.workflow).machine;
  PartsOfCell parts(cells, cell);
  codec::Buffer whole;
  const bool is_made = machine != nullptr && machine->write_whole(*state, parts, whole);
  if (parts.error()) return std::move(*parts.error());
  if (!is_made)
    return base::Error(base::ErrorCode::kConflict, "the code of its version is not there");
  return whole.to_bytes();
}

// Why this instance cannot move to this version; empty: it can, and `state` is what it moves with.
std::string find_objection(WorldState& world, Cell& cell, const WorkflowProgram& present,
                           base::Bytes& state) {
  if (!present.objection.empty()) return "the code of the present version: " + present.objection;
  if (cell.ready || cell.doomed || !cell.mail.empty())
    return "mail waits for it; it can move when it has taken that";
  for (const base::Hash& hash : cell.intents) {
    const Intent* const intent = world.intents.find(world.blobs, hash);
    if (intent == nullptr) return "an effect that it waits for is not open";
    const std::string& effect = world.program->effect(intent->effect()).name;
    const auto* const allowed = present.effects.find(effect);
    if (allowed == nullptr || allowed->second.effect != intent->effect())
      return "it waits for '" + effect + "', which the present version " +
             (allowed == nullptr ? "does not have" : "has in another form");
  }
  auto before = whole_state(world, cell);
  if (!before) return "its state: " + before.error().message();
  if (before->empty()) return "it has no state yet";
  codec::Buffer made;
  std::string why;
  const WorkflowProgram& earlier = world.program->workflow(cell.workflow);
  if (!present.machine->migrate({earlier.machine, *before}, made, why)) return why;
  const auto canonical = world.normaliser.part_from_cbor(present.state, made.view());
  if (!canonical) return "what the migration made: " + canonical.error().to_string();
  if (canonical->size() > kMaxStepOutputBytes) return "the migration made more than 1 MiB";
  state.assign(canonical->begin(), canonical->end());
  return {};
}

void move_cell(WorldState& world, Cell& cell, std::uint32_t to, base::ByteView state) {
  for (const base::Hash& intent : cell.intents) world.intents.set_workflow(intent, to);
  Cell moved;
  moved.id = cell.id;
  moved.key = std::move(cell.key);
  moved.paused = cell.paused;
  moved.intents = std::move(cell.intents);
  moved.last_record = cell.last_record;
  moved.trace = std::move(cell.trace);
  moved.run_by = cell.run_by;
  world.cells[cell.workflow].erase(cell);
  Cell& begun = world.cells[to].begin(moved.id, moved.key);
  begun.paused = moved.paused;
  begun.intents = std::move(moved.intents);
  begun.last_record = moved.last_record;
  begun.trace = std::move(moved.trace);
  begun.run_by = moved.run_by;
  world.cells[to].set_state(begun, state);
  touch(world, begun);
}

}  // namespace

Answer reduce_migrate(WorldState& world, const MigrateInstances& migrate) {
  if (const auto refused = check_by(migrate.by)) return *refused;
  const auto names = read_forget_list(migrate.instances);
  if (!names) {
    return Refused{base::ErrorCode::kInvalid,
                   "what is to be moved is no list of 1 to 256 instances"};
  }
  const auto migration = std::make_shared<Migration>();
  std::vector<ForgetName> moved;
  for (const ForgetName& name : *names) {
    const auto present = world.program->workflow_named(name.workflow);
    const base::Hash id = key_hash(name.key);
    if (!present) continue;
    const std::uint32_t number = version_of(world, *present, id);
    Cell* const cell = world.cells[number].find(id);
    if (number == *present || cell == nullptr || cell->terminal()) continue;
    base::Bytes state;
    std::string why = find_objection(world, *cell, world.program->workflow(*present), state);
    if (why.empty()) {
      move_cell(world, *cell, *present, state);
      world.draft.output_bytes += kInstanceBytes;
      moved.push_back(name);
      ++migration->moved;
      continue;
    }
    // It has moved once, so it would now as well, were the code the same.
    if (world.differences != nullptr) {
      world.differences->push_back({std::string(name.workflow),
                                    {name.key.begin(), name.key.end()},
                                    "it does not move: " + why});
    } else if (world.replaying && !world.failure) {
      world.failure =
          base::Error(base::ErrorCode::kConflict, "record " + std::to_string(world.next_record),
                      instance_text(name.workflow, name.key) + " does not move: " + why);
    }
    migration->stays.push_back(
        {std::string(name.workflow), {name.key.begin(), name.key.end()}, std::move(why)});
  }
  if (moved.empty()) return Unchanged{{}, migration};
  world.counted.clear();
  write_forget_list(world.counted, moved);
  world.draft.spend_turns();
  Accepted accepted;
  accepted.migration = migration;
  return accepted;
}

base::Result<std::optional<KeptVersion>> World::kept_version(std::string_view workflow,
                                                             base::ByteView key) {
  const Cell* const found = TRY(find(workflow, key));  // trims, too
  WorldState& world = *state_;
  const auto present = world.program->workflow_named(workflow);
  if (found == nullptr || found->terminal() || !present || found->workflow == *present)
    return std::optional<KeptVersion>();
  const std::uint32_t number = found->workflow;
  Cell* const cell = world.cells[number].find(found->id);
  const WorkflowProgram& next = world.program->workflow(*present);
  KeptVersion version{world.program->workflow(number).form, next.form};
  base::Bytes made;
  version.stays_because = find_objection(world, *cell, next, made);
  if (auto failure = take_failure(world)) return std::move(*failure);
  return std::optional(std::move(version));
}

}  // namespace holdfast::kernel
