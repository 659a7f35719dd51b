// SPDX-License-Identifier: Apache-2.0
// The one place where kinds of ticks meet.
#include <utility>

#include "kernel/world.h"
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
};

// The tick is over: what it touched is marked, and memory is put in order.
void close_tick(WorldState& world) {
  for (const Touched& touched : world.draft.touched) {
    if (touched.cell == nullptr) continue;
    Cell& cell = *touched.cell;
    cell.touched = 0;
    cell.last_record = world.next_record;
    cell.last_active_ns = world.tick->time_ns;
    world.cells[cell.workflow].changed(cell);
  }
  ++world.next_record;
  for (Cells& cells : world.cells) cells.trim();
}

}  // namespace

WorldState::WorldState(std::shared_ptr<const Program> the_program, Blobs& the_blobs,
                       CellLimits limits)
    : program(std::move(the_program)), blobs(the_blobs) {
  for (std::uint32_t i = 0; i < program->workflow_count(); ++i)
    cells.emplace_back(i, blobs, limits);
}

void Draft::clear() {
  touched.clear();
  emitted.clear();
  commands.clear();
  deliveries = ignored = steps = 0;
}

World::World(std::shared_ptr<const Program> program, Blobs& blobs, CellLimits limits)
    : state_(std::make_unique<WorldState>(std::move(program), blobs, limits)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

Outcome World::reduce(const Tick& tick) {
  WorldState& world = *state_;
  world.tick = &tick;
  world.draft.clear();
  Outcome outcome;
  outcome.answer = std::visit(Dispatch{world}, tick.input);
  if (auto* accepted = std::get_if<Accepted>(&outcome.answer)) {
    take_turns(world);
    accepted->record = world.next_record;
    outcome.record = encode_record(world);
    outcome.commands = std::move(world.draft.commands);
    close_tick(world);
  }
  world.tick = nullptr;
  for (const Cells& cells : world.cells) {
    if (cells.failure())
      outcome.failure = base::Error(cells.failure()->code(), cells.failure()->message());
  }
  return outcome;
}

const Program& World::program() const noexcept { return *state_->program; }
std::uint64_t World::next_record() const noexcept { return state_->next_record; }
const OpenIntents& World::intents() const noexcept { return state_->intents; }

const Cell* World::find(std::string_view workflow, base::ByteView key) {
  const auto index = state_->program->workflow_named(workflow);
  return index ? state_->cells[*index].find(key) : nullptr;
}

}  // namespace holdfast::kernel
