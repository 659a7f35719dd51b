// SPDX-License-Identifier: Apache-2.0
// A world between ticks: how it begins, and what it is asked. What ticks do is in reduce.cc.
#include "kernel/world.h"

#include <algorithm>
#include <utility>

#include "kernel/cell_codec.h"
#include "kernel/named_cells.h"
#include "kernel/parts_of_cell.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

namespace {

// Before, as what is found must stay. An error: the world has failed.
base::Result<void> begin_question(WorldState& world) {
  trim(world);
  if (auto failure = failure_of(world)) return std::move(*failure);
  return {};
}

// A state that has parts, as one value. Of a workflow that is gone nobody knows what they mean.
base::Result<void> make_whole(const Machine* machine, const Cells& cells, const Cell& cell,
                              base::Bytes& state) {
  if (cell.parts.empty() || machine == nullptr) return {};
  PartsOfCell parts(cells, cell);
  codec::Buffer whole;
  const bool is_made = machine->write_whole(state, parts, whole);
  if (parts.error()) return std::move(*parts.error());
  if (is_made) state = whole.to_bytes();
  return {};
}

base::Result<std::optional<InstanceValues>> read_values(Cells* cells, const Machine* machine,
                                                        const base::Hash& id) {
  Cell* const cell = cells != nullptr ? cells->find(id) : nullptr;
  if (cell == nullptr) return std::optional<InstanceValues>();
  InstanceValues values{cell->status(), cell->paused, {}, {}};
  const auto state = TRY(cells->state_of(*cell));
  if (state) values.state.assign(state->begin(), state->end());
  TRY(make_whole(machine, *cells, *cell, values.state));
  values.outcome = TRY(cells->outcome_of(*cell));
  return std::optional(std::move(values));
}

}  // namespace

WorldState::WorldState(const MachineSource& the_machines, Blobs& the_blobs,
                       WorldOptions the_options)
    : machines(the_machines),
      blobs(the_blobs),
      options(the_options),
      program(Program::none(the_machines, origin)) {
  begin_cells(*this);
}

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
  std::vector<OpenEffects> open;  // an effect has several forms if versions of workflows do
  const OpenCounts& counts = state_->intents.counts();
  for (std::uint32_t i = 0; i < state_->program->effect_count(); ++i) {
    const auto oldest = counts.oldest_ns(i);
    if (!oldest) continue;
    const EffectProgram& effect = state_->program->effect(i);
    const auto same = std::ranges::find_if(open, [&](const OpenEffects& each) {
      return each.effect == effect.name && each.executor == effect.executor.kind;
    });
    if (same == open.end()) {
      open.push_back({effect.name, effect.executor.kind, counts.open(i), *oldest});
    } else {
      same->count += counts.open(i);
      same->oldest_ns = std::min(same->oldest_ns, *oldest);
    }
  }
  return open;
}

void World::begin_counting_intents() noexcept { state_->intents.begin_counting(); }
void World::count_intent(const Intent& intent) { state_->intents.count(intent); }

base::Result<const Cell*> World::find(std::string_view workflow, base::ByteView key) {
  TRY(begin_question(*state_));
  const base::Hash id = key_hash(key);
  Cells* const cells = cells_named(*state_, workflow, id).cells;
  const Cell* cell = cells != nullptr ? cells->find(id) : nullptr;
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  return cell;
}

bool World::is_in_memory(std::string_view workflow, base::ByteView key) const {
  const auto index = state_->program->workflow_named(workflow);
  if (!index) return false;
  const base::Hash id = key_hash(key);
  const auto holds = [&](std::uint32_t version) { return state_->cells[version].holds(id); };
  return holds(*index) || std::ranges::any_of(state_->program->earlier_versions(*index), holds);
}

base::Result<std::optional<InstanceValues>> World::read(std::string_view workflow,
                                                        base::ByteView key) {
  TRY(begin_question(*state_));
  const base::Hash id = key_hash(key);
  const auto index = state_->program->workflow_named(workflow);
  const WorkflowProgram* const version =
      index ? &state_->program->workflow(version_of(*state_, *index, id)) : nullptr;
  auto values = read_values(cells_named(*state_, workflow, id).cells,
                            version != nullptr ? version->machine : nullptr, id);
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  if (values && *values) (*values)->workflow = version;
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
          intent.trace(),
          intent.last_progress};
}

OpenIntent World::command_of(const base::Hash& hash, const Intent& intent) const {
  return kernel::command_of(*state_, hash, intent);
}

}  // namespace holdfast::kernel
