// SPDX-License-Identifier: Apache-2.0
#include "steps/due.h"

#include <algorithm>
#include <utility>

namespace holdfast::steps {
namespace {

// In the order in which they come if they are due at once.
template <class Visit>
void each_due(const State& state, Visit visit) {
  if (state.deadline_ns != 0) visit(state.deadline_ns, [] { return Timeout{}; });
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    for (const Waiter& waiter : state.steps[step].waiters) {
      if (waiter.deadline_ns == 0) continue;
      visit(waiter.deadline_ns, [&] {
        return WaiterTimeout{step, waiter.trigger.item, waiter.id};
      });
    }
  }
  for (const StepState& step : state.steps) {
    for (const std::vector<Attempt>* attempts : {&step.queue, &step.last}) {
      for (const Attempt& attempt : *attempts) {
        if (attempt.not_before_ns == 0) continue;
        visit(attempt.not_before_ns, [&] { return WakeUp{attempt.not_before_ns}; });
      }
    }
  }
}

}  // namespace

std::optional<std::uint64_t> next_due(const State& state) {
  std::optional<std::uint64_t> next;
  each_due(state, [&](std::uint64_t at_ns, auto) { next = std::min(next.value_or(at_ns), at_ns); });
  return next;
}

std::vector<Tick> due_by(const State& state, std::uint64_t now_ns) {
  std::vector<std::pair<std::uint64_t, Tick>> due;
  each_due(state, [&](std::uint64_t at_ns, auto tick) {
    if (at_ns <= now_ns) due.emplace_back(at_ns, tick());
  });
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Tick> ticks;
  for (auto& [at_ns, tick] : due) {
    // One that is later does what the one right before it would have done, too.
    if (!ticks.empty() && std::holds_alternative<WakeUp>(ticks.back()) &&
        std::holds_alternative<WakeUp>(tick)) {
      ticks.back() = std::move(tick);
    } else {
      ticks.push_back(std::move(tick));
    }
  }
  return ticks;
}

}  // namespace holdfast::steps
