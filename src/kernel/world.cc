// SPDX-License-Identifier: Apache-2.0
// A world between ticks: how it begins, and what it is asked. What ticks do is in reduce.cc.
#include "kernel/world.h"

#include <utility>

#include "kernel/cell_codec.h"
#include "kernel/named_cells.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

namespace {

// Before, as what is found must stay. An error: the world has failed.
base::Result<void> begin_question(WorldState& world) {
  trim(world);
  if (auto failure = failure_of(world)) return std::move(*failure);
  return {};
}

base::Result<std::optional<InstanceValues>> read_values(Cells* cells, const base::Hash& id) {
  Cell* const cell = cells != nullptr ? cells->find(id) : nullptr;
  if (cell == nullptr) return std::optional<InstanceValues>();
  InstanceValues values{cell->status(), cell->paused, {}, {}};
  const auto state = TRY(cells->state_of(*cell));
  if (state) values.state.assign(state->begin(), state->end());
  values.outcome = TRY(cells->outcome_of(*cell));
  return std::optional(std::move(values));
}

}  // namespace

WorldState::WorldState(const MachineSource& the_machines, Blobs& the_blobs,
                       WorldOptions the_options)
    : machines(the_machines), blobs(the_blobs), options(the_options) {}

World::World(const MachineSource& machines, Blobs& blobs, WorldOptions options)
    : state_(std::make_unique<WorldState>(machines, blobs, options)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

const Program& World::program() const noexcept { return *state_->program; }
std::uint64_t World::next_record() const noexcept { return state_->next_record; }
std::uint64_t World::latest_ns() const noexcept { return state_->latest_ns; }
bool World::has_ready() const noexcept { return !state_->ready.empty(); }
const Counters& World::counters() const noexcept { return state_->counters; }
const Workers& World::workers() const noexcept { return state_->workers; }
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
  TRY(begin_question(*state_));
  Cells* const cells = cells_named(*state_, workflow).cells;
  const Cell* cell = cells != nullptr ? cells->find(key_hash(key)) : nullptr;
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  return cell;
}

bool World::is_in_memory(std::string_view workflow, base::ByteView key) const {
  const auto index = state_->program->workflow_named(workflow);
  return index && state_->cells[*index].holds(key_hash(key));
}

base::Result<std::optional<InstanceValues>> World::read(std::string_view workflow,
                                                        base::ByteView key) {
  TRY(begin_question(*state_));
  auto values = read_values(cells_named(*state_, workflow).cells, key_hash(key));
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  return values;
}

base::Result<const Intent*> World::find_intent(const base::Hash& intent) {
  TRY(begin_question(*state_));
  const Intent* found = state_->intents.find(state_->blobs, intent);
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  return found;
}

base::Result<void> World::visit_intents(const OpenIntents::Visitor& visitor) {
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return state_->intents.visit(state_->blobs, visitor);
}

OpenIntent command_of(const WorldState& world, const base::Hash& hash, const Intent& intent) {
  return {hash,
          {world.program, &world.program->effect(intent.effect())},
          world.program->workflow(intent.workflow()).name,
          intent.key(),
          intent.params(),
          intent.bytes(),
          intent.opened_ns(),
          intent.trace()};
}

OpenIntent World::command_of(const base::Hash& hash, const Intent& intent) const {
  return kernel::command_of(*state_, hash, intent);
}

}  // namespace holdfast::kernel
