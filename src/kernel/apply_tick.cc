// SPDX-License-Identifier: Apache-2.0
// Another manifest. Strict: while any instance has not ended, nothing changes, and the answer lists
// what is in the way. (An intent in flight and a message that waits belong to such an instance.)
// What ended stays readable under the name of its workflow.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

base::Result<Blocked> list_blockers(const WorldState& world) {
  Blocked blocked;
  std::size_t budget = kMaxLookedAtForBlockers;
  for (const Cells& cells : world.cells) {
    blocked.count += cells.active();
    if (cells.active() == 0) continue;
    std::vector<std::pair<base::Hash, Blocker>> found;
    std::uint64_t left = cells.active();
    TRY(cells.visit_active(budget, [&](const Cell& cell) {
      if (blocked.blockers.size() + found.size() == kMaxBlockersListed) return false;
      found.push_back({cell.id,
                       {world.program->workflow(cell.workflow).name, cell.key, cell.status(),
                        cell.paused, cell.intents, cell.mail.size()}});
      return --left != 0;
    }));
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [id, blocker] : found) blocked.blockers.push_back(std::move(blocker));
  }
  return blocked;
}

// The cells of all workflows, by name, out of memory.
base::Result<void> retire_cells(WorldState& world) {
  // All of them before any is retired: one that finds no room leaves the world as it was.
  for (Cells& cells : world.cells) TRY(cells.flush());
  for (auto& [name, cells] : world.retired) TRY(cells.flush());
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    if (world.cells[i].index().size() == 0) continue;
    retire(world, world.program->workflow(i).name, world.cells[i].index());
  }
  return {};
}

// Everything whose code does not fit. What was applied once is applied again on replay: whether
// that code is needed is seen when a record steps it.
std::optional<Refused> check_code(const WorldState& world, const Program& program) {
  if (!program.has_objections() || world.replaying) return std::nullopt;
  Refused refusal{base::ErrorCode::kConflict, "the code that is here does not fit the definitions"};
  for (std::uint32_t i = 0; i < program.workflow_count(); ++i) {
    const WorkflowProgram& workflow = program.workflow(i);
    if (!workflow.objection.empty())
      refusal.details.push_back(workflow.name + ": " + workflow.objection);
  }
  return refusal;
}

// Nothing: the program may run.
std::optional<Answer> what_blocks(WorldState& world, const Program& program) {
  if (auto refusal = check_code(world, program)) return std::move(*refusal);
  auto blocked = list_blockers(world);
  if (!blocked) return could_not_keep(world, std::move(blocked).error());
  if (blocked->count != 0) return std::move(blocked).take();
  return std::nullopt;
}

}  // namespace

Answer could_not_keep(WorldState& world, base::Error error) {
  const base::ErrorCode code = error.code();
  if (code == base::ErrorCode::kUnavailable && !world.replaying)
    return Refused{code, "there is no room for it: " + error.message()};
  world.failure = std::move(error);
  return Refused{base::ErrorCode::kIo, "what the world is kept in could not be read or written"};
}

// Nobody steps them, and what they are of is not there: what is read back is not asked about that.
void retire(WorldState& world, const std::string& workflow, const HashTrie& index) {
  world.retired.erase(workflow);
  const auto [cells, is_new] =
      world.retired.try_emplace(workflow, UINT32_MAX, world.blobs, world.options.cells);
  cells->second.restore(index, 0);
}

void begin_cells(WorldState& world) {
  world.read_back.use(*world.program);
  world.cells.clear();
  for (std::uint32_t i = 0; i < world.program->workflow_count(); ++i) {
    world.cells.emplace_back(i, world.blobs, world.options.cells, &world.read_back);
    const auto before = world.retired.find(world.program->workflow(i).name);
    if (before == world.retired.end()) continue;
    world.cells.back().restore(before->second.index(), 0);
    world.retired.erase(before);
  }
}

void begin_world(WorldState& world, const Entropy& origin) {
  world.origin = origin;
  if (world.program->workflow_count() == 0) return;
  world.program = world.program->in_world(origin);
  world.read_back.use(*world.program);
}

Answer replace_program(WorldState& world, std::shared_ptr<const Program> program) {
  if (auto objection = what_blocks(world, *program)) return std::move(*objection);
  // They would be looked for in the new program, and those that have turns among cells that are
  // gone.
  if (world.intents.size() != 0 || !world.ready.empty())
    return could_not_keep(
        world, corrupt("intents are open or turns left though every instance has ended"));
  if (auto retired = retire_cells(world); !retired)
    return could_not_keep(world, std::move(retired).error());
  world.program = std::move(program);
  begin_cells(world);
  note(world, "manifest.applied", {world.program->manifest_hash().to_text()});
  return Accepted{};
}

Answer reduce_apply(WorldState& world, const ApplyManifest& apply) {
  if (const auto refused = check_by(apply.by)) return *refused;
  Refused refusal;
  auto program = load_program(world, apply.definitions, refusal);
  if (program == nullptr) return refusal;
  return replace_program(world, std::move(program));
}

Answer World::try_apply(base::ByteView definitions) {
  Refused refusal;
  const auto program = load_program(*state_, definitions, refusal);
  if (program == nullptr) return refusal;
  auto objection = what_blocks(*state_, *program);
  trim(*state_);
  return objection ? std::move(*objection) : Accepted{};
}

}  // namespace holdfast::kernel
