// SPDX-License-Identifier: Apache-2.0
// The time of the run is over.
#include "steps/work.h"

namespace holdfast::steps {

void reduce_timeout(Work& work) {
  tell_early(work);
  Entry entry{.kind = EntryKind::kTimedOut, .elapsed_ns = work.graph.timeout_ns()};
  for (StepIndex step = 0; step < work.state.steps.size(); ++step) {
    if (!work.state.steps[step].running.empty()) entry.active.push_back(step);
  }
  work.state.is_running = false;
  work.has_exited = true;
  work.publish(std::move(entry));
  work.emit(HaltRun{HaltKind::kTimedOut, "the run took longer than it may"});
}

}  // namespace holdfast::steps
