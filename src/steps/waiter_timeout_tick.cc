// SPDX-License-Identifier: Apache-2.0
// A step has waited long enough: its event runs again, and the wait tells it so.
#include <algorithm>

#include "steps/work.h"

namespace holdfast::steps {

void reduce_waiter_timeout(Work& work, const WaiterTimeout& tick) {
  if (tick.step >= work.state.steps.size()) return;
  for (Waiter& waiter : work.state.steps[tick.step].waiters) {
    if (waiter.trigger.item != tick.item || waiter.id != tick.id || !waiter.is_open()) continue;
    waiter.is_timed_out = true;
    waiter.deadline_ns = 0;
    stop_child(work, waiter);
    return restart_trigger(work, tick.step, waiter);
  }
}

}  // namespace holdfast::steps
