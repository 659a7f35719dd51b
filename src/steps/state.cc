// SPDX-License-Identifier: Apache-2.0
#include "steps/state.h"

#include <algorithm>

namespace holdfast::steps {

void State::clear() {
  is_running = false;
  deadline_ns = last_item = last_run = last_stream = last_change = 0;
  for (StepState& step : steps) {
    step.queue.clear();
    step.later.clear();
    step.last.clear();
    step.running.clear();
    step.buffers.clear();
    step.waiters.clear();
    step.held.clear();
  }
  streams.clear();
  store.clear();
  early.clear();
  failures.clear();
  arena.clear();
}

Stream* State::find_stream(std::uint64_t id) {
  const auto found = std::lower_bound(
      streams.begin(), streams.end(), id,
      [](const Stream& stream, std::uint64_t wanted) { return stream.id < wanted; });
  return found == streams.end() || found->id != id ? nullptr : &*found;
}

bool State::is_running_now(std::uint64_t run) const {
  return std::any_of(steps.begin(), steps.end(), [run](const StepState& step) {
    return std::any_of(step.running.begin(), step.running.end(),
                       [run](const Running& running) { return running.run == run; });
  });
}

bool State::is_idle() const {
  return is_running && std::all_of(steps.begin(), steps.end(), [](const StepState& step) {
           return step.queue.empty() && step.later.empty() && step.running.empty();
         });
}

bool State::goes_on_by_itself() const {
  return !is_idle() || std::any_of(steps.begin(), steps.end(), [](const StepState& step) {
    return std::any_of(step.waiters.begin(), step.waiters.end(), [](const Waiter& waiter) {
      return waiter.is_open() && (waiter.child || waiter.deadline_ns != 0);
    });
  });
}

void State::forget_changes() {
  std::uint64_t oldest = last_change;
  for (StepState& step : steps) {
    std::uint64_t oldest_of_step = last_change;
    for (const Running& running : step.running)
      oldest_of_step = std::min(oldest_of_step, running.seen);
    std::erase_if(step.buffers, [&](const Buffer& buffer) {
      return buffer.events.empty() && buffer.changed <= oldest_of_step;
    });
    oldest = std::min(oldest, oldest_of_step);
  }
  std::erase_if(store, [&](const StoreEntry& entry) {
    return entry.value.empty() && entry.changed <= oldest;
  });
}

}  // namespace holdfast::steps
