// SPDX-License-Identifier: Apache-2.0
// Another manifest. It is compared with the present one: instances that have not ended and are
// touched by what changes stand in the way, and the answer lists them (kernel/manifest_change.h).
// Everybody else goes on: cells stay as they are, and so do the numbers of their workflows and
// effects. What ended stays readable under the name of its workflow.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernel/manifest_change.h"
#include "kernel/record.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Ended instances of a version that nothing goes on with any more.
constexpr std::uint64_t kMaxJoinedPerVersion = 10'000;

base::Result<void> list_active(const WorldState& world, std::uint32_t workflow, std::size_t& budget,
                               Blocked& blocked) {
  const Cells& cells = world.cells[workflow];
  std::vector<std::pair<base::Hash, Blocker>> found;
  std::uint64_t left = cells.active();
  TRY(cells.visit_active(budget, [&](const Cell& cell) {
    if (blocked.blockers.size() + found.size() == kMaxBlockersListed) return false;
    found.push_back(
        {cell.id,
         {world.program->workflow(cell.workflow).name, cell.key, cell.status(), cell.paused,
          std::vector<base::Hash>(cell.intents.begin(), cell.intents.end()), cell.mail.size()}});
    return --left != 0;
  }));
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [id, blocker] : found) blocked.blockers.push_back(std::move(blocker));
  return {};
}

// What of a change stands in the way of instances, which may be that it is strict. Nothing: none of
// it does.
std::optional<std::vector<std::string>> in_the_way(const ManifestChange::Touched* touched,
                                                   HowToApply how) {
  if (touched == nullptr && !how.strict) return std::nullopt;
  if (touched == nullptr) return std::vector<std::string>();
  if (!how.pin || how.strict) return touched->because;
  if (touched->also_pinned.empty()) return std::nullopt;
  return touched->also_pinned;
}

// How many instances of a workflow have not ended is known without looking at them.
base::Result<Blocked> list_blockers(const WorldState& world, const ManifestChange& change,
                                    HowToApply how) {
  Blocked blocked;
  std::size_t budget = kMaxLookedAtForBlockers;
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    const std::uint64_t active = world.cells[i].active();
    if (active == 0) continue;
    auto because = in_the_way(change.find(i), how);
    if (!because) continue;
    blocked.count += active;
    blocked.workflows.push_back({world.program->workflow(i).name, active, std::move(*because)});
    TRY(list_active(world, i, budget, blocked));
  }
  return blocked;
}

bool is_quiet(const WorldState& world) {
  return std::ranges::all_of(world.cells, [](const Cells& cells) { return cells.active() == 0; });
}

// Whether the cells of this number go on as they are.
bool stays_in(const Program& next, const Program& present, std::uint32_t number) {
  if (number >= present.workflow_count() || number >= next.workflow_count()) return false;
  const WorkflowProgram& before = present.workflow(number);
  return !before.name.empty() && before.name == next.workflow(number).name &&
         before.form == next.workflow(number).form;
}

// Where the ended instances go of a version that does not stay: to others of the same name.
struct Joining {
  std::uint32_t into = 0;
  std::uint32_t from = 0;
};

std::vector<Joining> find_joining(const WorldState& world, const Program& next) {
  std::vector<Joining> all;
  std::map<std::string_view, std::uint32_t> places;
  const auto visit = [&](bool staying) {
    for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
      const WorkflowProgram& workflow = world.program->workflow(i);
      if (workflow.name.empty() || stays_in(next, *world.program, i) != staying) continue;
      // Of those that stay only the version that will be the present one.
      if (staying && next.workflow(i).is_pinned) continue;
      const auto [place, is_first] = places.try_emplace(workflow.name, i);
      if (!is_first && world.cells[i].size() != 0) all.push_back({place->second, i});
    }
  };
  visit(true);
  visit(false);
  return all;
}

// The cells of versions that stay are handed on. The others have ended, all of them: they go out of
// memory, and are found again by the name of their workflow.
base::Result<void> hand_on_cells(WorldState& world, const Program& next) {
  const std::shared_ptr<const Program> present = world.program;
  const std::vector<Joining> joining = find_joining(world, next);
  // All that can fail comes first: without room the world stays as it was.
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    if (!stays_in(next, *present, i)) TRY(world.cells[i].flush());
  }
  for (auto& [name, cells] : world.retired) TRY(cells.flush());
  std::map<std::uint32_t, HashTrie> joined;
  std::set<std::uint32_t> gone;
  for (const Joining& each : joining) {
    Cells& into = world.cells[each.into];
    if (!joined.contains(each.into)) TRY(into.flush());
    const HashTrie before = into.index();
    if (const auto known = joined.find(each.into); known != joined.end())
      into.use_joined(known->second);
    auto made = into.joined_with(world.cells[each.from]);
    into.use_joined(before);
    if (!made) return std::move(made).error();
    joined.insert_or_assign(each.into, *made);
    gone.insert(each.from);
  }
  for (const auto& [number, index] : joined) world.cells[number].use_joined(index);
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    if (stays_in(next, *present, i) || gone.contains(i) || world.cells[i].size() == 0) continue;
    retire(world, present->workflow(i).name, world.cells[i].index());
  }
  std::vector<Cells> before = std::exchange(world.cells, {});
  world.cells.reserve(next.workflow_count());
  for (std::uint32_t i = 0; i < next.workflow_count(); ++i) {
    if (stays_in(next, *present, i)) {
      world.cells.push_back(std::move(before[i]));
    } else {
      begin_cells_of(world, i, next.workflow(i).is_pinned ? std::string() : next.workflow(i).name);
    }
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
    if (!workflow.objection.empty() && !workflow.is_pinned)
      refusal.details.push_back(workflow.name + ": " + workflow.objection);
  }
  if (refusal.details.empty()) return std::nullopt;  // instances that are pinned wait for code
  return refusal;
}

// With those that would go on with an earlier version.
std::shared_ptr<const ManifestChange> change_to(const WorldState& world, const Program& program) {
  auto change = std::make_shared<ManifestChange>(compare(*world.program, program));
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    const bool stays = i < program.workflow_count() && program.workflow(i).is_pinned &&
                       !world.program->workflow(i).is_pinned;
    if (stays && world.cells[i].active() != 0)
      change->pinned.emplace_back(program.workflow(i).name, world.cells[i].active());
  }
  return change;
}

// Nothing: the program may run.
std::optional<Answer> what_blocks(WorldState& world, const Program& program,
                                  const ManifestChange& change, HowToApply how) {
  if (auto refusal = check_code(world, program)) return std::move(*refusal);
  auto blocked = list_blockers(world, change, how);
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

void begin_cells_of(WorldState& world, std::uint32_t workflow, const std::string& name) {
  world.cells.emplace_back(workflow, world.blobs, world.options.cells, &world.read_back);
  const auto before = world.retired.find(name);
  if (before == world.retired.end()) return;
  world.cells.back().restore(before->second.index(), 0);
  world.retired.erase(before);
}

void begin_cells(WorldState& world) {
  world.read_back.use(*world.program);
  world.cells.clear();
  for (std::uint32_t i = 0; i < world.program->workflow_count(); ++i)
    begin_cells_of(world, i, world.program->workflow(i).name);
}

void begin_world(WorldState& world, const Entropy& origin) {
  world.origin = origin;
  if (world.program->workflow_count() == 0) return;
  world.program = world.program->in_world(origin);
  world.read_back.use(*world.program);
}

std::optional<Numbering> numbers_to_keep(const WorldState& world) {
  if (is_quiet(world) && versions_to_keep(world, false).empty()) return std::nullopt;
  return world.program->numbering();
}

// Those that have instances under way, and those with so many that have ended that they are not put
// to the others in one tick.
std::vector<Pin> versions_to_keep(const WorldState& world, bool also_present) {
  std::vector<Pin> pins;
  for (const Pin& pin : world.program->pins()) {
    for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
      const WorkflowProgram& workflow = world.program->workflow(i);
      const bool is_it = workflow.is_pinned && workflow.name == pin.workflow.name &&
                         workflow.form == pin.workflow.hash;
      const bool is_kept =
          is_it && (world.cells[i].active() != 0 || world.cells[i].size() > kMaxJoinedPerVersion);
      if (is_kept) pins.push_back(pin);
    }
  }
  if (!also_present) return pins;
  const auto closure = std::make_shared<const base::Bytes>(world.program->closure());
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    const WorkflowProgram& workflow = world.program->workflow(i);
    if (workflow.is_pinned || workflow.is_system || world.cells[i].active() == 0) continue;
    pins.push_back({{workflow.name, workflow.form}, closure});
  }
  return pins;
}

Answer replace_program(WorldState& world, std::shared_ptr<const Program> program, HowToApply how) {
  if (program->pins().size() > kMaxPins)
    return Refused{base::ErrorCode::kUnavailable,
                   "instances of too many earlier versions of workflows are kept"};
  const auto change = change_to(world, *program);
  if (auto objection = what_blocks(world, *program, *change, how)) return std::move(*objection);
  const bool was_quiet = is_quiet(world);
  // They would be looked for in the new program, and those that have turns among cells that are
  // gone.
  if (was_quiet && (world.intents.size() != 0 || !world.ready.empty()))
    return could_not_keep(
        world, corrupt("intents are open or turns left though every instance has ended"));
  if (auto handed_on = hand_on_cells(world, *program); !handed_on)
    return could_not_keep(world, std::move(handed_on).error());
  world.program = std::move(program);
  world.read_back.use(*world.program);
  world.ahead = 0;
  std::vector<std::string> details{world.program->manifest_hash().to_text()};
  // Programs of before would have refused it.
  if (!was_quiet) details.emplace_back(kAppliedBesideWork);
  note(world, "manifest.applied", std::move(details));
  Accepted accepted;
  accepted.change = change;
  return accepted;
}

Answer reduce_apply(WorldState& world, const ApplyManifest& apply) {
  if (const auto refused = check_by(apply.by)) return *refused;
  Refused refusal;
  auto program = load_program(world, apply.definitions, apply.pin, refusal);
  if (program == nullptr) return refusal;
  // There are records of before that apply what was applied.
  if (program->manifest_hash() == world.program->manifest_hash() && !world.replaying)
    return Unchanged{};
  return replace_program(world, std::move(program), {apply.strict, apply.pin});
}

Answer World::try_apply(base::ByteView definitions, HowToApply how) {
  Refused refusal;
  const auto program = load_program(*state_, definitions, how.pin, refusal);
  if (program == nullptr) return refusal;
  if (program->manifest_hash() == state_->program->manifest_hash()) return Unchanged{};
  const auto change = change_to(*state_, *program);
  auto objection = what_blocks(*state_, *program, *change, how);
  trim(*state_);
  if (objection) return std::move(*objection);
  Accepted accepted;
  accepted.change = change;
  return accepted;
}

}  // namespace holdfast::kernel
