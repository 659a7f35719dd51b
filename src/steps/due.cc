// SPDX-License-Identifier: Apache-2.0
#include "steps/due.h"

namespace holdfast::steps {

std::optional<Due> next_due(const State& state) {
  std::optional<Due> next;
  const auto is_next = [&](std::uint64_t at_ns) {
    return at_ns != 0 && (!next || at_ns < next->at_ns);
  };
  if (is_next(state.deadline_ns)) next = Due{state.deadline_ns, Timeout{}};
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    for (const Waiter& waiter : state.steps[step].waiters) {
      if (is_next(waiter.deadline_ns))
        next = Due{waiter.deadline_ns, WaiterTimeout{step, waiter.trigger.item, waiter.id}};
    }
  }
  for (const StepState& step : state.steps) {
    for (const Attempt& attempt : step.queue) {
      if (is_next(attempt.not_before_ns))
        next = Due{attempt.not_before_ns, WakeUp{attempt.not_before_ns}};
    }
  }
  return next;
}

}  // namespace holdfast::steps
