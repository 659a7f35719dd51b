// SPDX-License-Identifier: Apache-2.0
// A run that began with one graph goes on with another. A state names steps and events by their
// places in the graph, so all of them are put to the places of the new one. What the run still has
// to do must be there, and be called alike; what it does not need may be gone.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/view.h"
#include "steps/broker.h"
#include "steps/machine.h"

namespace holdfast::steps {
namespace {

const char kFamily = 0;

bool is_used(const StepState& step) {
  return !step.queue.empty() || !step.running.empty() || !step.buffers.empty() ||
         !step.waiters.empty() || !step.held.empty();
}

class Mover {
 public:
  Mover(const Graph& from, const Graph& to, std::string& why) : from_(from), to_(to), why_(why) {}

  bool move(State& state) {
    std::vector<StepState> steps(to_.steps().size());
    for (StepIndex i = 0; i < state.steps.size(); ++i) {
      if (!is_used(state.steps[i])) continue;
      StepIndex place = i;
      to_step(place);
      if (!why_.empty()) return false;
      if (!is_alike(from_.step(i), to_.step(place))) {
        complain("the step '" + from_.step(i).name + "', which it has to run, takes other events");
        return false;
      }
      move_step(state.steps[i]);
      steps[place] = std::move(state.steps[i]);
    }
    state.steps = std::move(steps);
    for (Stream& stream : state.streams) {
      move_lineage(stream.lineage);
      for (JoinState& join : stream.joins) {
        to_step(join.step);
        for (Event& event : join.members) move_event(event);
        move_lineage(join.lineage);
      }
    }
    for (Early& early : state.early) {
      move_event(early.event);
      if (early.target) to_step(*early.target);
    }
    move_failures(state.failures);
    return why_.empty();
  }

 private:
  void complain(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  void to_step(StepIndex& step) {
    const std::string& name = from_.step(step).name;
    const auto place = to_.step_named(name);
    if (!place) return complain("the new graph has no step '" + name + "'");
    step = *place;
  }
  void to_type(TypeIndex& type) {
    const std::string& schema = from_.type(type).schema;
    const auto place = to_.type_named(schema);
    if (!place) return complain("the new graph has no event '" + schema + "'");
    type = *place;
  }

  bool are_same(const std::vector<TypeIndex>& a, const std::vector<TypeIndex>& b) const {
    return std::ranges::equal(a, b, [this](TypeIndex one, TypeIndex other) {
      return from_.type(one).schema == to_.type(other).schema;
    });
  }
  bool is_alike(const StepDef& before, const StepDef& now) const {
    if (before.join.has_value() != now.join.has_value()) return false;
    const bool same_join =
        !before.join || (before.join->take == now.join->take &&
                         from_.type(before.join->type).schema == to_.type(now.join->type).schema);
    return same_join && are_same(before.accepts, now.accepts) && are_same(before.slots, now.slots);
  }

  void move_event(Event& event) { to_type(event.type); }
  void move_lineage(Lineage& lineage) {
    for (Recovery& recovery : lineage) to_step(recovery.handler);
  }
  void move_attempt(Attempt& attempt) {
    move_event(attempt.event);
    move_lineage(attempt.lineage);
  }
  void move_step(StepState& step) {
    for (Attempt& attempt : step.queue) move_attempt(attempt);
    for (Running& running : step.running) move_attempt(running.attempt);
    for (Buffer& buffer : step.buffers) {
      for (Event& event : buffer.events) move_event(event);
    }
    for (Waiter& waiter : step.waiters) {
      if (!waiter.child) to_type(waiter.type);
      move_attempt(waiter.trigger);
      if (waiter.resolved) move_event(*waiter.resolved);
    }
    for (Held& held : step.held) {
      move_event(held.event);
      move_lineage(held.lineage);
    }
  }
  // They are only told: those of steps that are gone are dropped.
  void move_failures(std::vector<PastFailure>& failures) {
    std::erase_if(failures, [this](PastFailure& past) {
      const auto place = to_.step_named(from_.step(past.step).name);
      if (place) past.step = *place;
      return !place;
    });
  }

  const Graph& from_;
  const Graph& to_;
  std::string& why_;
};

}  // namespace

const void* StepsMachine::family() const noexcept { return &kFamily; }

bool StepsMachine::migrate(const kernel::EarlierState& earlier, codec::Buffer& out,
                           std::string& why) const {
  if (earlier.machine == nullptr || earlier.machine->family() != family()) {
    why = "its version is not one of steps";
    return false;
  }
  const Graph& from = static_cast<const StepsMachine*>(earlier.machine)->graph();
  auto broker = broker_in(earlier.state, from);
  const auto status = codec::View::of(earlier.state).find("status");
  if (!broker || !status || !status->text()) {
    why = "its state is not one of its version";
    return false;
  }
  if (from.rules() != graph_.rules()) {
    why = "its version was made by an earlier program";
    return false;
  }
  if (!Mover(from, graph_, why).move(broker->state)) return false;
  write_steps_state(out, broker->state, broker->outbox, *status->text());
  return true;
}

}  // namespace holdfast::steps
