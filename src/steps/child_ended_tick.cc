// SPDX-License-Identifier: Apache-2.0
// An instance that a step has run has ended: the step's event runs again, and the wait tells it
// how.
#include "steps/work.h"

namespace holdfast::steps {

void reduce_child_ended(Work& work, const ChildEnded& tick) {
  for (StepIndex step = 0; step < work.state.steps.size(); ++step) {
    for (Waiter& waiter : work.state.steps[step].waiters) {
      if (!waiter.child || waiter.child->number != tick.number) continue;
      if (!waiter.is_open()) return;  // it was given up before
      waiter.child->end = tick.end;
      waiter.deadline_ns = 0;
      return restart_trigger(work, step, waiter);
    }
  }
}

void stop_child(Work& work, const Waiter& waiter) {
  if (!waiter.child || !waiter.child->is_issued || waiter.child->end) return;
  work.emit(StopChild{waiter.child->workflow, waiter.child->key});
}

}  // namespace holdfast::steps
