// SPDX-License-Identifier: Apache-2.0
// Looks whether the run waits for the outside. A fan-out that is open while nothing of it is under
// way or waits could never close: the run would sleep for ever, so it fails.
#include <set>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

// The fan-outs in which something waits, also in fan-outs inside them. Each way up ends where
// another one has been.
std::set<std::uint64_t> with_waiters(State& state) {
  std::set<std::uint64_t> found;
  for (const StepState& step : state.steps) {
    for (const Waiter& waiter : step.waiters) {
      std::uint64_t at = waiter.is_open() ? waiter.trigger.stream : 0;
      while (at != 0 && found.insert(at).second) {
        const Stream* around = state.find_stream(at);
        at = around == nullptr ? 0 : around->parent;
      }
    }
  }
  return found;
}

}  // namespace

void reduce_idle_check(Work& work) {
  if (!work.state.is_idle()) return;
  const std::set<std::uint64_t> waiting = with_waiters(work.state);
  for (const Stream& stream : work.state.streams) {
    if (waiting.contains(stream.id)) continue;
    return fail_run(
        work, {.kind = EntryKind::kFailed,
               .failure = {"steps.stuck_fan_out",
                           "a fan-out is open, and nothing that came out of it is under way"}});
  }
  work.publish({.kind = EntryKind::kIdle});
}

}  // namespace holdfast::steps
