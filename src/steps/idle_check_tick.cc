// SPDX-License-Identifier: Apache-2.0
// Looks whether the run waits for the outside. A fan-out that is open while nothing of it is under
// way or waits could never close: the run would sleep for ever, so it fails.
#include <algorithm>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

// Whether something inside it waits, also in fan-outs inside it.
bool has_waiter(State& state, std::uint64_t stream) {
  for (const StepState& step : state.steps) {
    for (const Waiter& waiter : step.waiters) {
      for (std::uint64_t at = waiter.trigger.stream; waiter.is_open() && at != 0;) {
        if (at == stream) return true;
        const Stream* around = state.find_stream(at);
        at = around == nullptr ? 0 : around->parent;
      }
    }
  }
  return false;
}

}  // namespace

void reduce_idle_check(Work& work) {
  if (!work.state.is_idle()) return;
  for (const Stream& stream : work.state.streams) {
    if (has_waiter(work.state, stream.id)) continue;
    return fail_run(
        work, {.kind = EntryKind::kFailed,
               .failure = {"steps.stuck_fan_out",
                           "a fan-out is open, and nothing that came out of it is under way"}});
  }
  work.publish({.kind = EntryKind::kIdle});
}

}  // namespace holdfast::steps
