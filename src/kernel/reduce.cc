// SPDX-License-Identifier: Apache-2.0
// The one place where kinds of ticks meet.
#include <algorithm>
#include <utility>

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
  Answer operator()(const WorkerEnrolled& enrolled) { return reduce_enrolled(world, enrolled); }
  Answer operator()(const WorkerChanged& changed) { return reduce_worker(world, changed); }
  Answer operator()(const Leased& leased) { return reduce_leased(world, leased); }
  Answer operator()(const Returned& returned) { return reduce_returned(world, returned); }
  Answer operator()(const StopAsked& asked) { return reduce_stop(world, asked); }
  Answer operator()(const SourceMarked& marked) { return reduce_marked(world, marked); }
  Answer operator()(const ReopenInstance& reopen) { return reduce_reopen(world, reopen); }
  Answer operator()(const MigrateInstances& migrate) { return reduce_migrate(world, migrate); }
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

// What was not there before, and is not there now: no instance took what came for it. Of a record
// node/unhandled.h says the same.
bool is_unhandled(const Draft& draft, const Touched& touched) {
  if (touched.cell != nullptr || touched.previous_record != 0) return false;
  // A workflow that says nothing of it, leaves nothing and does nothing has not taken it either.
  const bool is_nothing = touched.steps == 1 && touched.opened.empty() && touched.settled.empty() &&
                          touched.annotations.empty() && draft.emitted.empty();
  return touched.is_unhandled || is_nothing;
}

Untaken untaken(const Touched& touched) {
  Untaken made{std::string(touched.workflow), {touched.key.begin(), touched.key.end()}};
  if (touched.cell == nullptr) return made;
  made.why = touched.cell->terminal() ? Untaken::Why::kEnded : Untaken::Why::kStrange;
  if (touched.cell->terminal()) made.ended = touched.cell->status();
  return made;
}

// How many did not take the event, and who they are if no instance did. It is answered in the same
// way when it comes again under its id.
void judge_event(WorldState& world, const EventArrived& event, Accepted& accepted) {
  Draft& draft = world.draft;
  for (std::size_t i = 0; i < draft.addressed; ++i) {
    if (is_unhandled(draft, draft.touched(i))) ++accepted.unhandled;
  }
  if (accepted.unhandled != 0 && !event.id.empty()) {
    EventSource* const source = source_of(world.sources, event.id);
    (source == nullptr ? world.event_ids : source->ids).set_unhandled(accepted.unhandled);
  }
  if (accepted.unhandled != accepted.deliveries) return;
  for (std::size_t i = 0; i < std::min(draft.addressed, kMostUntaken); ++i)
    accepted.untaken.push_back(untaken(draft.touched(i)));
}

}  // namespace

void trim(WorldState& world) {
  for (Cells& cells : world.cells) cells.trim();
  for (auto& [name, cells] : world.retired) cells.trim();
  world.intents.trim();
  world.event_ids.trim(world.blobs);
  for (EventSource& source : world.sources) source.ids.trim(world.blobs);
}

Outcome World::reduce(const Tick& tick) {
  Outcome outcome;
  reduce(tick, outcome);
  return outcome;
}

void World::reduce(const Tick& tick, Outcome& outcome) {
  WorldState& world = *state_;
  world.tick = &tick;
  world.trace = {};
  if (world.next_record == 1) begin_world(world, tick.entropy);
  world.draft.clear();
  outcome.record.clear();
  outcome.commands.clear();
  outcome.ended.clear();
  outcome.said.clear();
  outcome.answer = std::visit(Dispatch{world}, tick.input);
  if (auto* accepted = std::get_if<Accepted>(&outcome.answer)) {
    take_turns(world);
    accepted->record = world.next_record;
    if (const auto* event = std::get_if<EventArrived>(&tick.input))
      judge_event(world, *event, *accepted);
    encode_record(world);
    outcome.record.assign(world.record.view().begin(), world.record.view().end());
    std::swap(outcome.commands, world.draft.commands);
    close_tick(world, outcome);
  } else if (!std::holds_alternative<Repeated>(outcome.answer) &&
             !std::holds_alternative<Unchanged>(outcome.answer)) {
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

}  // namespace holdfast::kernel
