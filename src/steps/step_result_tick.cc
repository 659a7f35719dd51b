// SPDX-License-Identifier: Apache-2.0
// A run of a step is over. It has failed, or begun to wait, or ended well; only in the last case
// does anything that its body did become true, in the order it did it.
#include <algorithm>
#include <utility>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

constexpr Failure kConflict{"step.conflict", "another step has changed what the body had read"};

struct Place {
  StepIndex step;
  std::size_t at;
};

std::optional<Place> find_run(const State& state, std::uint64_t run) {
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    const std::vector<Running>& running = state.steps[step].running;
    for (std::size_t at = 0; at < running.size(); ++at) {
      if (running[at].run == run) return Place{step, at};
    }
  }
  return std::nullopt;
}

template <class T>
const T* find(const StepResult& tick) {
  for (const Did& did : tick.did) {
    if (const T* found = std::get_if<T>(&did)) return found;
  }
  return nullptr;
}

void stop(Work& work, const Event& event) {
  tell_early(work);
  work.publish({.kind = EntryKind::kStopped, .event = event});
  State& state = work.state;
  state.is_running = false;
  state.steps.assign(state.steps.size(), StepState());
  state.streams.clear();
  work.has_exited = true;
  work.emit(CompleteRun{event});
}

// Ends of one run of one step, by what its body did. Nothing is done any more when the run of the
// workflow is over.
struct Apply {
  Work& work;
  StepIndex step;
  const Attempt& attempt;

  bool is_stop(const Event& event) const { return work.graph.type(event.type).role == Role::kStop; }

  void operator()(const Returned& returned) const {
    if (!returned.event) return settle_item(work, attempt.stream, 0);
    const Event& event = *returned.event;
    if (is_stop(event)) return stop(work, event);
    publish_question(event);
    work.emit(QueueEvent{{.event = event, .stream = attempt.stream, .lineage = attempt.lineage}});
  }
  void operator()(const ReturnedList& returned) const {
    for (const Event& event : returned.events) {
      if (is_stop(event)) return stop(work, event);
    }
    for (const Event& event : returned.events) publish_question(event);
    open_stream(work, step, attempt, returned.events);
  }
  void operator()(const Sent& sent) const {
    publish_question(sent.event);
    work.emit(QueueEvent{{.event = sent.event, .target = sent.target, .lineage = attempt.lineage}});
  }
  void operator()(const AddCollected& added) const {
    add_collected(work, work.state.steps[step], added);
  }
  void operator()(const DeleteCollected& deleted) const {
    delete_collected(work, work.state.steps[step], deleted);
  }
  void operator()(const Streamed& streamed) const { work.publish({.event = streamed.event}); }
  void operator()(const StoreEdit& edit) const { edit_store(work, edit); }
  void operator()(const CancelStep& cancelled) const { cancel_step(work, cancelled); }
  void operator()(const CancelRun& cancelled) const { reduce_cancel(work, cancelled); }
  void operator()(const Failed&) const {}        // dealt with before
  void operator()(const AddWaiter&) const {}     // likewise
  void operator()(const SawCollected&) const {}  // likewise

  // Somebody outside is asked, whether anybody inside takes it or not.
  void publish_question(const Event& event) const {
    if (work.graph.type(event.type).role == Role::kInputRequired) work.publish({.event = event});
  }
};

// What others hear of. It need not wait for the end of the body: a body that waits for an answer
// must be able to ask before.
bool goes_out(const Did& did) {
  return std::holds_alternative<Sent>(did) || std::holds_alternative<Streamed>(did);
}

// So much of it went out when the item began its waits; the body does it again each time.
std::uint64_t let_out_by(const StepState& step, std::uint64_t item) {
  std::uint64_t most = 0;
  for (const Waiter& waiter : step.waiters) {
    if (waiter.trigger.item == item) most = std::max(most, waiter.let_out);
  }
  return most;
}

// Lets out what came before the wait and has not gone out. How much that is in all.
std::uint64_t let_out_before_wait(Work& work, StepIndex step, const Attempt& attempt,
                                  const StepResult& tick) {
  const std::uint64_t known = let_out_by(work.state.steps[step], attempt.item);
  const Apply apply{work, step, attempt};
  std::uint64_t count = 0;
  for (const Did& did : tick.did) {
    if (std::holds_alternative<AddWaiter>(did)) break;
    if (goes_out(did) && ++count > known) std::visit(apply, did);
  }
  return std::max(count, known);
}

std::optional<TypeIndex> returned_type(const StepResult& tick) {
  const auto* one = find<Returned>(tick);
  if (one != nullptr && one->event) return one->event->type;
  const auto* list = find<ReturnedList>(tick);
  if (list != nullptr && !list->events.empty()) return list->events.front().type;
  return std::nullopt;
}

bool has_returned(const StepResult& tick) {
  return find<Returned>(tick) != nullptr || find<ReturnedList>(tick) != nullptr;
}

}  // namespace

Attempt leave_slot(Work& work, StepIndex step, std::size_t at, std::optional<TypeIndex> output) {
  std::vector<Running>& running = work.state.steps[step].running;
  const auto place = running.begin() + static_cast<std::ptrdiff_t>(at);
  Attempt attempt = std::move(place->attempt);
  work.publish({.kind = EntryKind::kNotRunning,
                .step = step,
                .slot = place->slot,
                .item = attempt.item,
                .input = attempt.event.type,
                .output = output});
  running.erase(place);
  return attempt;
}

void reduce_step_result(Work& work, const StepResult& tick) {
  const auto place = find_run(work.state, tick.run);
  if (!place) return;  // nobody waits for it any more
  const auto [step, at] = *place;
  if (const Failed* failed = find<Failed>(tick)) return step_failed(work, step, at, *failed);
  StepState& state = work.state.steps[step];
  // Asked for a verdict, it gave none: it did not run the body, so nothing else can be true.
  if (const auto& unjudged = state.running[at].unjudged)
    return step_failed(work, step, at, Failed{*unjudged, true, std::nullopt});
  if (const AddWaiter* added = find<AddWaiter>(tick)) {
    const Attempt attempt = leave_slot(work, step, at);
    const std::uint64_t let_out = let_out_before_wait(work, step, attempt, tick);
    const Waiter* answered = add_waiter(work, step, attempt, *added, let_out);
    drain(work, step);
    if (answered != nullptr) restart_trigger(work, step, *answered);
    return;
  }
  if (is_stale(work, state, state.running[at], tick)) {
    run_again(work, step, state.running[at]);
    return tell_repeat(work, step, state.running[at], kConflict);
  }

  const Attempt attempt = leave_slot(work, step, at, returned_type(tick));
  std::uint64_t known = let_out_by(state, attempt.item);
  end_item(work, step, attempt.item);
  const Apply apply{work, step, attempt};
  for (const Did& did : tick.did) {
    if (work.has_exited) return;
    if (goes_out(did) && known != 0) {
      --known;
      continue;
    }
    std::visit(apply, did);
  }
  if (work.has_exited) return;
  if (!has_returned(tick)) apply(Returned{});
  drain(work, step);
  work.state.forget_changes();
}

}  // namespace holdfast::steps
