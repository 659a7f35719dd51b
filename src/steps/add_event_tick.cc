// SPDX-License-Identifier: Apache-2.0
// An event: first for those who wait for it, then for all steps that take its type. A step that was
// woken by it does not get it a second time. An event that was sent to one step is for that alone.
#include <algorithm>
#include <bitset>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

bool takes(const StepDef& step, TypeIndex type) {
  return std::find(step.accepts.begin(), step.accepts.end(), type) != step.accepts.end();
}

void start(Work& work) {
  work.state.is_running = true;
  if (work.graph.timeout_ns() != 0 && work.state.deadline_ns == 0)
    work.state.deadline_ns = after(work.now_ns, work.graph.timeout_ns());
}

void cannot_join(Work& work, StepIndex step, const Event& event) {
  const std::string& schema = work.graph.type(event.type).schema;
  fail_run(work, {.kind = EntryKind::kFailed,
                  .step = step,
                  .event = event,
                  .failure = {"steps.cannot_join",
                              work.state.arena.keep("an event '" + schema +
                                                    "' that no fan-out led to was sent to a step "
                                                    "that joins them")}});
}

}  // namespace

void reduce_add_event(Work& work, const AddEvent& tick) {
  const Event& event = tick.event;
  const Role role = work.graph.type(event.type).role;
  if (role == Role::kStart) start(work);
  const StepIndex steps = static_cast<StepIndex>(work.state.steps.size());

  std::bitset<kMaxSteps> woken;
  bool is_handled = false;
  const bool wakes_all = !work.graph.has(Rules::kTellsAttempts);
  for (StepIndex step = 0; step < steps; ++step) {
    if (!wakes_all && tick.target && *tick.target != step) continue;
    woken[step] = wake_waiters(work, step, event);
    is_handled |= woken[step];
  }
  std::uint64_t successors = 0;
  for (StepIndex step = 0; step < steps; ++step) {
    if (woken[step] || (tick.target && *tick.target != step)) continue;
    if (takes(work.graph.step(step), event.type)) {
      dispatch(work, step, Attempt{.event = event, .stream = tick.stream, .lineage = tick.lineage});
      ++successors;
      is_handled = true;
    }
    const Filled filled = fill_slot(work, step, tick);
    if (filled == Filled::kComplete) ++successors;
    is_handled |= filled != Filled::kNo;
    const Joined joined = join(work, step, tick);
    if (joined == Joined::kCannot && tick.target) return cannot_join(work, step, event);
    is_handled |= joined == Joined::kYes;
  }
  if (!is_handled && role != Role::kInputRequired) keep_early(work, tick);
  settle_item(work, tick.stream, successors);
}

}  // namespace holdfast::steps
