// SPDX-License-Identifier: Apache-2.0
#include "steps/reasons.h"

#include <algorithm>

#include "steps/broker.h"

namespace holdfast::steps {
namespace {

class Finder {
 public:
  Finder(const Graph& graph, const State& state, std::size_t most)
      : graph_(graph), state_(state), most_(most) {}

  std::vector<Reason> find() && {
    for_each_step([&](StepIndex step, const StepState& now) { add_waits(step, now); });
    for_each_step([&](StepIndex step, const StepState& now) { add_retries(step, now); });
    for_each_step([&](StepIndex step, const StepState& now) { add_queued(step, now); });
    for_each_step([&](StepIndex step, const StepState& now) { add_attempts(step, now); });
    if (found_.empty() && !runs_child_ && state_.is_idle()) add_event();
    if (state_.deadline_ns != 0) {
      Reason timeout;
      timeout.kind = Reason::Kind::kTimeout;
      timeout.due_ns = state_.deadline_ns;
      add(std::move(timeout));
    }
    return std::move(found_);
  }

 private:
  template <class Visit>
  void for_each_step(Visit visit) const {
    for (StepIndex step = 0; step < state_.steps.size(); ++step) visit(step, state_.steps[step]);
  }

  void add(Reason reason) {
    if (found_.size() < most_) found_.push_back(std::move(reason));
  }

  Reason of(Reason::Kind kind, StepIndex step, const Attempt& attempt) const {
    Reason reason;
    reason.kind = kind;
    reason.step = graph_.step(step).name;
    reason.item = attempt.item;
    reason.schema = graph_.type(attempt.event.type).schema;
    return reason;
  }

  void add_waits(StepIndex step, const StepState& now) {
    for (const Waiter& waiter : now.waiters) {
      if (!waiter.is_open()) continue;
      runs_child_ |= waiter.child.has_value();
      if (waiter.child) continue;  // the kernel tells of it
      Reason reason = of(Reason::Kind::kWait, step, waiter.trigger);
      reason.schema = graph_.type(waiter.type).schema;
      reason.due_ns = waiter.deadline_ns;
      for (const Requirement& requirement : waiter.requirements)
        reason.requirements.emplace_back(
            requirement.field, base::Bytes(requirement.value.begin(), requirement.value.end()));
      add(std::move(reason));
    }
  }

  void add_retries(StepIndex step, const StepState& now) {
    for (const Attempt& attempt : now.queue) {
      if (attempt.not_before_ns == 0) continue;
      Reason reason = of(Reason::Kind::kRetry, step, attempt);
      reason.due_ns = attempt.not_before_ns;
      add_last(attempt, reason);
      add(std::move(reason));
    }
  }
  static void add_last(const Attempt& attempt, Reason& reason) {
    reason.failures = attempt.failures;
    if (!attempt.last) return;
    reason.code = attempt.last->code;
    reason.message = attempt.last->message;
  }

  void add_attempts(StepIndex step, const StepState& now) {
    for (const Running& running : now.running) {
      if (running.attempt.failures == 0) continue;
      Reason reason = of(Reason::Kind::kAttempt, step, running.attempt);
      add_last(running.attempt, reason);
      add(std::move(reason));
    }
  }

  void add_queued(StepIndex step, const StepState& now) {
    std::uint64_t before = 0;
    for (const Attempt& attempt : now.queue) {
      if (attempt.not_before_ns != 0) continue;
      Reason reason = of(Reason::Kind::kQueued, step, attempt);
      reason.events_before = before++;
      reason.running = now.running.size();
      reason.workers = graph_.step(step).workers;
      add(std::move(reason));
    }
  }

  void add_event() {
    Reason reason;
    reason.kind = Reason::Kind::kEvent;
    for (TypeIndex type = 0; type < graph_.types().size(); ++type) {
      if (graph_.type(type).role != Role::kResponse) continue;
      const bool is_taken =
          std::any_of(graph_.steps().begin(), graph_.steps().end(), [&](const StepDef& step) {
            const auto has = [type](const std::vector<TypeIndex>& types) {
              return std::find(types.begin(), types.end(), type) != types.end();
            };
            return has(step.accepts) || has(step.slots);
          });
      if (is_taken) reason.schemas.push_back(graph_.type(type).schema);
    }
    add(std::move(reason));
  }

  const Graph& graph_;
  const State& state_;
  const std::size_t most_;
  std::vector<Reason> found_;
  bool runs_child_ = false;
};

}  // namespace

std::vector<Reason> reasons_of(const Graph& graph, base::ByteView state, std::size_t most) {
  if (state.empty()) return {};
  const auto broker = broker_in(state, graph);
  if (!broker) return {};
  std::vector<Reason> found;
  if (broker->state.is_running) found = Finder(graph, broker->state, most).find();
  for (const PastFailure& past : broker->state.failures) {
    Reason reason;
    reason.kind = Reason::Kind::kFailed;
    reason.step = graph.step(past.step).name;
    reason.item = past.item;
    reason.failures = past.attempt;
    reason.due_ns = past.at_ns;
    reason.code = past.failure.code;
    reason.message = past.failure.message;
    found.push_back(std::move(reason));
  }
  return found;
}

}  // namespace holdfast::steps
