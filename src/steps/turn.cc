// SPDX-License-Identifier: Apache-2.0
#include "steps/turn.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "codec/view.h"
#include "kernel/text.h"
#include "steps/due.h"
#include "steps/reduce.h"
#include "steps/results_codec.h"
#include "steps/scanner.h"

namespace holdfast::steps {
namespace {

// What an effect was opened for stands in its reference: a letter and a number.
std::optional<std::uint64_t> number_behind(char letter, std::string_view ref) {
  if (ref.empty() || ref.front() != letter) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = ref.data() + ref.size();
  const auto read = std::from_chars(ref.data() + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

constexpr std::size_t kMaxCodeBytes = 255;

// A sys/EffectError@1, cut to what is kept of a failure.
Failure failure_of(base::ByteView error, Arena& arena) {
  const codec::View view = codec::View::of(error);
  const auto text = [&](std::string_view field) {
    const auto found = view.find(field);
    return arena.keep(kernel::shown(found ? found->text().value_or("") : ""));
  };
  const std::string_view code = text("code");
  const bool is_good = !code.empty() && code.size() <= kMaxCodeBytes;
  return {is_good ? code : "effect.failed", text("message")};
}

}  // namespace

Turn::Turn(const StepsMachine& machine, const kernel::StepInput& input, kernel::StepOutput& output,
           Broker& broker)
    : machine_(machine),
      graph_(machine.graph()),
      input_(input),
      output_(output),
      state_(broker.state),
      outbox_(broker.outbox),
      now_ns_(input.context.logical_ns()),
      old_entries_(broker.outbox.entries.size()),
      entries_(graph_, broker.state.arena, broker.outbox.entries) {}

void Turn::take(const kernel::Mail& mail) {
  switch (mail.kind) {
    case kernel::MailKind::kEvent: return take_event(mail);
    case kernel::MailKind::kReceipt:
    case kernel::MailKind::kRejected: return take_answer(mail);
    case kernel::MailKind::kProgress: return take_progress(mail);
  }
}

void Turn::take_event(const kernel::Mail& mail) {
  const auto type = graph_.type_named(mail.schema);
  if (!type) return fail_run("steps.unknown_event", "the workflow has no such event");
  const Event event{*type, false, mail.value};
  if (!input_.state && graph_.type(*type).role != Role::kStart) {
    // Nobody has begun the run that it is for. It leaves no run behind.
    entries_.add({.kind = EntryKind::kUnhandled, .event = event, .is_idle = true});
    is_removed_ = true;
    return;
  }
  if (!outbox_.ending) reduce_all(AddEvent{.event = event});
}

void Turn::take_answer(const kernel::Mail& mail) {
  const std::string_view ref = mail.origin.issuer_ref;
  if (const auto run = number_behind('r', ref)) return take_result(*run, mail);
  if (const auto due_ns = number_behind('a', ref)) return take_alarm(*due_ns);
  if (ref == "c") outbox_.is_continuing = false;
}

void Turn::take_result(std::uint64_t run, const kernel::Mail& mail) {
  if (outbox_.open_runs != 0) --outbox_.open_runs;
  if (outbox_.ending) return;
  const auto lost = [&](std::string_view code, std::string_view message) {
    reduce_all(StepResult{run, {Failed{{code, message}, false, std::nullopt}}});
  };
  if (mail.kind == kernel::MailKind::kRejected) return lost(mail.fault(), mail.note);
  if (mail.status != kernel::ReceiptStatus::kOk) {
    const Failure failure = failure_of(mail.value, state_.arena);
    return lost(failure.code, failure.message);
  }
  const auto results = codec::View::of(mail.value).find("results");
  auto did = read_results(results ? results->bytes().value_or(base::ByteView()) : base::ByteView(),
                          graph_, state_.arena);
  if (!did) return lost("steps.bad_result", state_.arena.keep(did.error().to_string()));
  reduce_all(StepResult{run, std::move(*did)});
}

// Everything that is due by now, the earliest first. Each is over when it is reduced, so this ends.
void Turn::take_alarm(std::uint64_t due_ns) {
  const auto set = std::find(outbox_.alarms.begin(), outbox_.alarms.end(), due_ns);
  if (set != outbox_.alarms.end()) outbox_.alarms.erase(set);
  const std::uint64_t now_ns = std::max(now_ns_, due_ns);
  while (!outbox_.ending) {
    auto next = next_due(state_);
    if (!next || next->at_ns > now_ns) return;
    reduce_all(std::move(next->tick));
  }
}

// [schema, value], as a body puts it out while it is running.
void Turn::take_progress(const kernel::Mail& mail) {
  const auto run = number_behind('r', mail.origin.issuer_ref);
  if (outbox_.ending || !run || !state_.is_running_now(*run)) return;
  Scanner in(mail.value);
  in.list(2);
  const auto type = graph_.type_named(in.text());
  const base::ByteView value = in.bytes();
  if (!in.done() || !type) return;
  const auto event = read_event(*type, value, graph_, state_.arena);
  if (event) reduce_all(Publish{*event});
}

void Turn::reduce_all(Tick first) {
  ticks_.push_back(std::move(first));
  while (!ticks_.empty()) {
    const Tick tick = std::move(ticks_.front());
    ticks_.pop_front();
    commands_.clear();
    reduce(graph_, state_, tick, now_ns_, commands_);
    for (const Command& command : commands_) perform(command);
    if (outbox_.ending) ticks_.clear();
  }
}

void Turn::perform(const Command& command) {
  if (const auto* queued = std::get_if<QueueEvent>(&command)) {
    ticks_.emplace_back(queued->event);
  } else if (const auto* published = std::get_if<PublishEntry>(&command)) {
    entries_.add(published->entry);
  } else if (const auto* completed = std::get_if<CompleteRun>(&command)) {
    if (completed->result)
      end({.is_failure = false, .failure = {}, .result = completed->result->value});
  } else if (const auto* halted = std::get_if<HaltRun>(&command)) {
    const bool is_late = halted->kind == HaltKind::kTimedOut;
    end({.is_failure = true,
         .failure = {is_late ? "steps.timed_out" : "steps.cancelled", halted->message},
         .result = {}});
  } else if (const auto* failed = std::get_if<FailRun>(&command)) {
    end({.is_failure = true, .failure = failed->failure, .result = {}});
  } else if (std::holds_alternative<ScheduleIdleCheck>(command)) {
    idle_check_ = true;
  }
  // Runs that are to be issued and times that are to be kept stand in the state.
}

void Turn::end(const Ending& ending) {
  if (!outbox_.ending) outbox_.ending = ending;
}

// Behind everything else, and not while a message waits that may make it busy again: then it is
// for the turn of that message, whatever it brings.
void Turn::check_idle() {
  if (outbox_.ending || !state_.is_idle() || input_.context.mail_waiting() != 0) {
    outbox_.is_idle_told = false;
    return;
  }
  if (outbox_.is_idle_told && !idle_check_) return;
  outbox_.is_idle_told = true;
  reduce_all(IdleCheck{});
}

}  // namespace holdfast::steps
