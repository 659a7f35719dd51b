// SPDX-License-Identifier: Apache-2.0
// Who runs now and who waits for a slot.
#include <algorithm>
#include <utility>

#include "steps/parts.h"
#include "steps/work.h"

namespace holdfast::steps {
namespace {

// All other attempts that run again have told that they failed.
constexpr Failure kWaited{"step.waited", "the wait of the body is over"};

bool has_free_slot(const Work& work, StepIndex step) {
  return work.state.steps[step].running.size() < work.graph.step(step).workers;
}

// Slots are in order: the first that is not where it would be without gaps is free.
void take_slot(Work& work, StepIndex step, Attempt attempt) {
  std::vector<Running>& running = work.state.steps[step].running;
  std::uint32_t slot = 0;
  while (slot < running.size() && running[slot].slot == slot) ++slot;
  // One that has failed before has begun, be it at the beginning of time.
  if (attempt.first_ns == 0 && attempt.failures == 0) attempt.first_ns = work.now_ns;
  attempt.not_before_ns = 0;
  const std::uint64_t run = ++work.state.last_run;
  const std::uint64_t item = attempt.item;
  const TypeIndex input = attempt.event.type;
  const auto place = running.insert(running.begin() + slot, Running{.attempt = std::move(attempt),
                                                                    .slot = slot,
                                                                    .run = run,
                                                                    .seen = work.state.last_change,
                                                                    .unjudged = std::nullopt});
  work.emit(RunStep{step, slot, run});
  work.publish(
      {.kind = EntryKind::kRunning, .step = step, .slot = slot, .item = item, .input = input});
  tell_repeat(work, step, *place, kWaited);
}

}  // namespace

void dispatch(Work& work, StepIndex step, Attempt attempt) {
  if (attempt.item == 0) attempt.item = ++work.state.last_item;
  if (has_free_slot(work, step)) return take_slot(work, step, std::move(attempt));
  const std::uint64_t item = attempt.item;
  const TypeIndex input = attempt.event.type;
  add_to_queue(work.state.steps[step], std::move(attempt));
  work.publish({.kind = EntryKind::kPreparing, .step = step, .item = item, .input = input});
}

// One that is delayed keeps its place and keeps nobody behind it from running.
void drain(Work& work, StepIndex step) {
  std::vector<Attempt>& queue = work.state.steps[step].queue;
  std::size_t kept = 0;
  for (std::size_t at = 0;; ++at) {
    // What is behind the queue is wanted only when there is a place for it.
    while (at == queue.size() && !work.state.steps[step].later.empty() && has_free_slot(work, step))
      bring_next(work.graph, work.state, work.state.steps[step]);
    if (at == queue.size()) break;
    if (queue[at].not_before_ns == 0 && has_free_slot(work, step)) {
      take_slot(work, step, std::move(queue[at]));
    } else {
      if (kept != at) queue[kept] = std::move(queue[at]);
      ++kept;
    }
  }
  queue.resize(kept);
}

void drain_all(Work& work) {
  for (StepIndex step = 0; step < work.state.steps.size(); ++step) drain(work, step);
}

void run_again(Work& work, StepIndex step, Running& running) {
  running.run = ++work.state.last_run;
  running.seen = work.state.last_change;
  running.is_issued = false;
  work.emit(RunStep{step, running.slot, running.run});
}

}  // namespace holdfast::steps
