// SPDX-License-Identifier: Apache-2.0
// Delayed attempts whose time has come.
#include "steps/work.h"

namespace holdfast::steps {

void reduce_wake_up(Work& work, const WakeUp& tick) {
  for (StepState& step : work.state.steps) {
    for (std::vector<Attempt>* attempts : {&step.queue, &step.last}) {
      for (Attempt& attempt : *attempts) {
        if (attempt.not_before_ns <= tick.due_ns) attempt.not_before_ns = 0;
      }
    }
  }
  drain_all(work);
}

}  // namespace holdfast::steps
