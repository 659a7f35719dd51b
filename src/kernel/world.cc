// SPDX-License-Identifier: Apache-2.0
// A world between ticks: how it begins, and what it is asked. What ticks do is in reduce.cc.
#include "kernel/world.h"

#include <utility>

#include "kernel/cell_codec.h"
#include "kernel/named_cells.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

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
  Cells* const cells = cells_named(*state_, workflow).cells;
  const Cell* cell = cells != nullptr ? cells->find(key_hash(key)) : nullptr;
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return cell;
}

bool World::is_in_memory(std::string_view workflow, base::ByteView key) const {
  const auto index = state_->program->workflow_named(workflow);
  return index && state_->cells[*index].holds(key_hash(key));
}

base::Result<std::optional<InstanceValues>> World::read(std::string_view workflow,
                                                        base::ByteView key) {
  trim(*state_);
  Cells* const named = cells_named(*state_, workflow).cells;
  Cell* cell = named != nullptr ? named->find(key_hash(key)) : nullptr;
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  if (cell == nullptr) return std::optional<InstanceValues>();
  Cells& cells = *named;
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
