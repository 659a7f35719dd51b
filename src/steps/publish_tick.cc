// SPDX-License-Identifier: Apache-2.0
// A step that is still running puts something out, or begins again after it was lost.
#include "steps/work.h"

namespace holdfast::steps {
namespace {

void name_step(const State& state, std::uint64_t run, Entry& entry) {
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    for (const Running& running : state.steps[step].running) {
      if (running.run != run) continue;
      entry.step = step;
      entry.slot = running.slot;
      entry.item = running.attempt.item;
      entry.attempts = running.attempt.failures + std::uint64_t{1};
      return;
    }
  }
}

}  // namespace

void reduce_publish(Work& work, const Publish& tick) {
  Entry entry{.event = tick.event};
  if (work.graph.has(Rules::kTellsAttempts) && tick.run != 0) {
    name_step(work.state, tick.run, entry);
    entry.attempts = 0;
  }
  work.publish(std::move(entry));
}

void reduce_began_again(Work& work, const BeganAgain& tick) {
  Entry entry{.kind = EntryKind::kBeganAgain};
  name_step(work.state, tick.run, entry);
  if (entry.step) work.publish(std::move(entry));
}

}  // namespace holdfast::steps
