// SPDX-License-Identifier: Apache-2.0
// The time of the run is over.
#include <string>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

// How many steps a message names: a graph may have hundreds.
constexpr std::size_t kMostNamed = 8;

template <class Is>
std::string names_of(const Work& work, Is is) {
  std::string names;
  std::size_t count = 0;
  for (StepIndex step = 0; step < work.state.steps.size(); ++step) {
    if (!is(work.state.steps[step])) continue;
    if (++count <= kMostNamed) names += (count == 1 ? "" : ", ") + work.graph.step(step).name;
  }
  if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
  return names;
}

bool is_waiting(const StepState& step) {
  for (const Waiter& waiter : step.waiters) {
    if (waiter.is_open()) return true;
  }
  return false;
}

std::string_view message(Work& work) {
  std::string text = "the run took longer than it may";
  if (!work.graph.has(Rules::kTellsAttempts)) return work.state.arena.keep(text);
  const auto add = [&](const char* word, const std::string& names) {
    if (!names.empty()) text += std::string("; ") + word + ": " + names;
  };
  add("running", names_of(work, [](const StepState& step) { return !step.running.empty(); }));
  add("waiting", names_of(work, is_waiting));
  add("queued", names_of(work, [](const StepState& step) { return !step.queue.empty(); }));
  return work.state.arena.keep(text);
}

}  // namespace

void reduce_timeout(Work& work) {
  tell_early(work);
  Entry entry{.kind = EntryKind::kTimedOut, .elapsed_ns = work.graph.timeout_ns()};
  for (StepIndex step = 0; step < work.state.steps.size(); ++step) {
    if (!work.state.steps[step].running.empty()) entry.active.push_back(step);
  }
  const std::string_view text = message(work);
  if (work.graph.has(Rules::kTellsAttempts)) entry.failure = {kRunTimedOut, text};
  work.state.is_running = false;
  work.has_exited = true;
  work.publish(std::move(entry));
  work.emit(HaltRun{HaltKind::kTimedOut, text});
}

}  // namespace holdfast::steps
