// SPDX-License-Identifier: Apache-2.0
// A step that is still running puts something out, or begins again after it was lost.
#include "steps/work.h"

namespace holdfast::steps {
namespace {

constexpr Failure kLost{"step.lost", "the program ended while the body ran"};

Running* find_running(State& state, std::uint64_t run, Entry& entry) {
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    for (Running& running : state.steps[step].running) {
      if (running.run != run) continue;
      entry.step = step;
      entry.slot = running.slot;
      entry.item = running.attempt.item;
      entry.attempts = running.attempt.failures + std::uint64_t{1};
      return &running;
    }
  }
  return nullptr;
}

}  // namespace

void reduce_publish(Work& work, const Publish& tick) {
  Entry entry{.kind = tick.event ? EntryKind::kEvent : EntryKind::kUnhandled,
              .event = tick.event,
              .failure = tick.refused};
  if (work.graph.has(Rules::kTellsAttempts) && tick.run != 0) {
    Running* const running = find_running(work.state, tick.run, entry);
    entry.attempts = 0;
    if (running != nullptr && work.graph.has(Rules::kTellsRepeats))
      running->attempt.has_published = true;
  }
  work.publish(std::move(entry));
}

void reduce_began_again(Work& work, const BeganAgain& tick) {
  Entry entry{.kind = EntryKind::kBeganAgain};
  Running* const running = find_running(work.state, tick.run, entry);
  if (running == nullptr) return;
  if (work.graph.has(Rules::kTellsRepeats)) entry.failure = kLost;
  running->attempt.has_published = false;
  work.publish(std::move(entry));
}

void tell_repeat(Work& work, StepIndex step, Running& running, const Failure& why) {
  if (!std::exchange(running.attempt.has_published, false)) return;
  work.publish({.kind = EntryKind::kBeganAgain,
                .step = step,
                .slot = running.slot,
                .item = running.attempt.item,
                .failure = why,
                .attempts = running.attempt.failures + std::uint64_t{1}});
}

}  // namespace holdfast::steps
