// SPDX-License-Identifier: Apache-2.0
#include "steps/reduction.h"

#include <algorithm>
#include <utility>

#include "steps/due.h"
#include "steps/reduce.h"
#include "steps/results_codec.h"

namespace holdfast::steps {

void Reduction::take(Tick tick) {
  ticks_.clear();
  ticks_.push_back(std::move(tick));
  reduce_all();
  if (ending_ || state_.early.empty() || state_.goes_on_by_itself()) return;
  ticks_.clear();
  ticks_.push_back(TellEarly{});
  reduce_all();
}

void Reduction::reduce_all() {
  for (std::size_t at = 0; at < ticks_.size() && !ending_; ++at) {
    const Tick next = std::move(ticks_[at]);
    commands_.clear();
    reduce(graph_, state_, next, now_ns, commands_);
    for (Command& command : commands_) perform(command);
  }
}

bool Reduction::take_event(TypeIndex type, base::ByteView value, bool is_new) {
  const Event event{type, false, value};
  if (is_new && graph_.type(type).role != Role::kStart) {
    entries_.add({.kind = EntryKind::kUnhandled, .event = event, .is_idle = true});
    return false;
  }
  take(AddEvent{.event = event});
  return true;
}

void Reduction::take_results(std::uint64_t run, base::ByteView results) {
  auto did = read_results(results, graph_, state_.arena);
  if (!did) return take_lost(run, "steps.bad_result", state_.arena.keep(did.error().to_string()));
  take(StepResult{run, std::move(*did)});
}

void Reduction::take_lost(std::uint64_t run, std::string_view code, std::string_view message) {
  take(StepResult{run, {Failed{{code, message}, false, std::nullopt}}});
}

void Reduction::take_due(std::uint64_t until_ns) {
  if (ending_) return;
  for (Tick& tick : due_by(state_, until_ns)) {
    take(std::move(tick));
    if (ending_) return;
  }
}

void Reduction::perform(Command& command) {
  if (auto* queued = std::get_if<QueueEvent>(&command)) {
    ticks_.emplace_back(std::move(queued->event));
  } else if (const auto* published = std::get_if<PublishEntry>(&command)) {
    entries_.add(published->entry);
  } else if (const auto* asked = std::get_if<RunStep>(&command)) {
    asked_.push_back(*asked);
  } else if (const auto* completed = std::get_if<CompleteRun>(&command)) {
    if (completed->result)
      end({.is_failure = false, .failure = {}, .result = completed->result->value});
  } else if (const auto* halted = std::get_if<HaltRun>(&command)) {
    const bool is_late = halted->kind == HaltKind::kTimedOut;
    end({.is_failure = true,
         .failure = {is_late ? kRunTimedOut : kRunCancelled, halted->message},
         .result = {}});
  } else if (const auto* failed = std::get_if<FailRun>(&command)) {
    end({.is_failure = true, .failure = failed->failure, .result = {}});
  } else if (std::holds_alternative<ScheduleIdleCheck>(command)) {
    idle_check_ = true;
  } else if (const auto* stopped = std::get_if<StopChild>(&command)) {
    stops_.push_back(*stopped);
  } else if (const auto* given_up = std::get_if<StopRun>(&command)) {
    given_up_.push_back(given_up->run);
  }
  // Times that are to be kept stand in the state.
}

void Reduction::end(const Ending& ending) {
  if (!ending_) ending_ = ending;
}

void Reduction::ask_again() {
  asked_.clear();
  for (StepIndex step = 0; step < state_.steps.size(); ++step) {
    for (const Running& running : state_.steps[step].running)
      asked_.push_back({step, running.slot, running.run});
  }
  std::sort(asked_.begin(), asked_.end(),
            [](const RunStep& a, const RunStep& b) { return a.run < b.run; });
}

void Reduction::check_idle(bool has_mail, bool& is_told) {
  if (ending_ || has_mail || !state_.is_idle()) {
    is_told = idle_check_ = false;
    return;
  }
  if (is_told && !idle_check_) return;
  is_told = true;
  idle_check_ = false;
  take(IdleCheck{});
}

}  // namespace holdfast::steps
