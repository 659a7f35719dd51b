// SPDX-License-Identifier: Apache-2.0
// The run, or one step of it, is given up.
#include <utility>

#include "steps/parts.h"
#include "steps/work.h"

namespace holdfast::steps {

void reduce_cancel(Work& work, const CancelRun& tick) {
  tell_early(work);
  work.has_exited = true;
  work.publish({.kind = EntryKind::kCancelled, .failure = {"steps.cancelled", tick.reason}});
  work.emit(HaltRun{HaltKind::kCancelled, tick.reason});
}

// What waits, runs or sleeps in it is dropped, and drops out of its fan-out. Results that come
// later find nobody.
void cancel_step(Work& work, const CancelStep& cancelled) {
  const StepIndex step = cancelled.step;
  StepState& state = work.state.steps[step];
  bring_queue(work.graph, work.state, state);
  std::vector<std::uint64_t> left;  // the fan-outs that lose somebody
  for (const Running& running : state.running) {
    left.push_back(running.attempt.stream);
    work.publish({.kind = EntryKind::kNotRunning,
                  .step = step,
                  .slot = running.slot,
                  .item = running.attempt.item,
                  .input = running.attempt.event.type});
    if (cancelled.stops && running.is_issued) work.emit(StopRun{running.run});
  }
  for (const Attempt& attempt : state.queue) left.push_back(attempt.stream);
  for (const Waiter& waiter : state.waiters) {
    // One that is not open has been started again, and was counted above.
    if (!waiter.is_open()) continue;
    left.push_back(waiter.trigger.stream);
    stop_child(work, waiter);
  }
  state = StepState();
  for (const std::uint64_t stream : left) settle_item(work, stream, 0);
}

}  // namespace holdfast::steps
