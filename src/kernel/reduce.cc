// SPDX-License-Identifier: Apache-2.0
// The one place where kinds of ticks meet.
#include <algorithm>
#include <utility>

#include "kernel/cell_codec.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

struct Dispatch {
  WorldState& world;
  Answer operator()(const EventArrived& event) { return reduce_event(world, event); }
  Answer operator()(const ReceiptArrived& receipt) { return reduce_receipt(world, receipt); }
  Answer operator()(const ProgressArrived& progress) { return reduce_progress(world, progress); }
  Answer operator()(const Continue& unused) { return reduce_continue(world, unused); }
  Answer operator()(const ControlRequested& request) { return reduce_control(world, request); }
  Answer operator()(const ApplyManifest& apply) { return reduce_apply(world, apply); }
  Answer operator()(const Propose& propose) { return reduce_propose(world, propose); }
  Answer operator()(const ReportShadow& shadow) { return reduce_shadow(world, shadow); }
  Answer operator()(const Decide& decide) { return reduce_decide(world, decide); }
  Answer operator()(const ApplyProposal& apply) { return reduce_apply_proposal(world, apply); }
  Answer operator()(const ForgetEnded& forget) { return reduce_forget(world, forget); }
};

// The tick is over: what it touched is marked.
void close_tick(WorldState& world, Outcome& outcome) {
  for (std::size_t i = 0; i < world.draft.touched_count(); ++i) {
    const Touched& touched = world.draft.touched(i);
    if (touched.cell == nullptr || touched.cell->terminal())
      outcome.ended.push_back({touched.workflow, touched.key});
    if (!touched.annotations.empty()) outcome.said.push_back({touched.workflow, touched.key});
    if (touched.cell == nullptr) continue;
    Cell& cell = *touched.cell;
    cell.touched = 0;
    cell.last_record = world.next_record;
    cell.last_active_ns = world.tick->time_ns;
    world.cells[cell.workflow].changed(cell);
  }
  world.latest_ns = std::max(world.latest_ns, world.tick->time_ns);
  ++world.next_record;
}

}  // namespace

void trim(WorldState& world) {
  for (Cells& cells : world.cells) cells.trim();
  for (auto& [name, cells] : world.retired) cells.trim();
  world.intents.trim();
}

WorldState::WorldState(const MachineSource& the_machines, Blobs& the_blobs,
                       WorldOptions the_options)
    : machines(the_machines), blobs(the_blobs), options(the_options) {}

World::World(const MachineSource& machines, Blobs& blobs, WorldOptions options)
    : state_(std::make_unique<WorldState>(machines, blobs, options)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

Outcome World::reduce(const Tick& tick) {
  Outcome outcome;
  reduce(tick, outcome);
  return outcome;
}

void World::reduce(const Tick& tick, Outcome& outcome) {
  WorldState& world = *state_;
  world.tick = &tick;
  if (world.next_record == 1) world.origin = tick.entropy;
  world.draft.clear();
  outcome.record.clear();
  outcome.commands.clear();
  outcome.ended.clear();
  outcome.said.clear();
  outcome.answer = std::visit(Dispatch{world}, tick.input);
  if (auto* accepted = std::get_if<Accepted>(&outcome.answer)) {
    take_turns(world);
    accepted->record = world.next_record;
    encode_record(world);
    outcome.record.assign(world.record.view().begin(), world.record.view().end());
    std::swap(outcome.commands, world.draft.commands);
    close_tick(world, outcome);
  } else if (!std::holds_alternative<Repeated>(outcome.answer)) {
    ++world.counters.refused;
  }
  world.tick = nullptr;
  trim(world);  // a tick that was refused has looked at cells and intents, too
  outcome.failure = failure_of(world);
  if (!outcome.failure) return;
  // Nobody is to take for true what a failed world came to.
  outcome.record.clear();
  outcome.commands.clear();
  outcome.ended.clear();
  outcome.said.clear();
}

const Program& World::program() const noexcept { return *state_->program; }
std::uint64_t World::next_record() const noexcept { return state_->next_record; }
std::uint64_t World::latest_ns() const noexcept { return state_->latest_ns; }
bool World::has_ready() const noexcept { return !state_->ready.empty(); }
const Counters& World::counters() const noexcept { return state_->counters; }
std::uint64_t World::open_intents() const noexcept { return state_->intents.size(); }

std::vector<World::OpenEffects> World::open_effects() const {
  std::vector<OpenEffects> open;
  const OpenCounts& counts = state_->intents.counts();
  for (std::uint32_t i = 0; i < state_->program->effect_count(); ++i) {
    const auto oldest = counts.oldest_ns(i);
    if (!oldest) continue;
    const EffectProgram& effect = state_->program->effect(i);
    open.push_back({effect.name, effect.executor.kind, counts.open(i), *oldest});
  }
  return open;
}

void World::begin_counting_intents() noexcept { state_->intents.begin_counting(); }
void World::count_intent(const Intent& intent) { state_->intents.count(intent); }

base::Result<const Cell*> World::find(std::string_view workflow, base::ByteView key) {
  trim(*state_);  // before, as what is found must stay
  const auto index = state_->program->workflow_named(workflow);
  const Cell* cell = index ? state_->cells[*index].find(key_hash(key)) : nullptr;
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return cell;
}

base::Result<std::optional<InstanceValues>> World::read(std::string_view workflow,
                                                        base::ByteView key) {
  trim(*state_);
  const auto index = state_->program->workflow_named(workflow);
  Cell* cell = index ? state_->cells[*index].find(key_hash(key)) : nullptr;
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  if (cell == nullptr) return std::optional<InstanceValues>();
  Cells& cells = state_->cells[*index];
  InstanceValues values{cell->status(), cell->paused, {}, {}};
  if (const auto state = cells.state_of(*cell)) values.state.assign(state->begin(), state->end());
  values.outcome = cells.outcome_of(*cell);
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return std::optional(std::move(values));
}

base::Result<const Intent*> World::find_intent(const base::Hash& intent) {
  trim(*state_);
  const Intent* found = state_->intents.find(state_->blobs, intent);
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return found;
}

base::Result<void> World::visit_intents(const OpenIntents::Visitor& visitor) {
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  auto visited = state_->intents.visit(state_->blobs, visitor);
  if (!visited) fail(visited.error());
  return visited;
}

OpenIntent World::command_of(const base::Hash& hash, const Intent& intent) const {
  const WorldState& world = *state_;
  return {hash,
          {world.program, &world.program->effect(intent.effect())},
          world.program->workflow(intent.workflow()).name,
          intent.key(),
          intent.params(),
          intent.bytes(),
          intent.opened_ns()};
}

}  // namespace holdfast::kernel
