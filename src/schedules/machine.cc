// SPDX-License-Identifier: Apache-2.0
#include "schedules/machine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/mail.h"
#include "schedules/cell.h"

namespace holdfast::schedules {
namespace {

using codec::View;
using kernel::MailKind;
using kernel::ReceiptStatus;

// Fewer than the effects that a step may open, as each may start an instance.
constexpr std::size_t kDuePerAnswer = 32;
constexpr std::uint64_t kAskAgainNs = 24ULL * 3600 * kSecondNs;
constexpr std::uint64_t kRetryNs = 60 * kSecondNs;
constexpr std::size_t kMostNote = 300;

// The same sum, or the last moment there is.
std::uint64_t later(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
std::uint64_t earlier(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

// "code: message" of a sys/EffectError@1.
std::string error_text(base::ByteView value) {
  if (value.empty()) return "its result did not fit";
  const View error = View::of(value);
  const auto code = error.find("code");
  const auto message = error.find("message");
  std::string text(code ? code->text().value_or("") : "");
  if (message) text += ": " + std::string(message->text().value_or(""));
  if (text.size() > kMostNote) {
    text.resize(kMostNote);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
      text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
  }
  return text;
}

// One turn of one schedule.
class ScheduleTurn {
 public:
  ScheduleTurn(const kernel::StepInput& input, kernel::StepOutput& output, std::string_view name,
               Cell cell)
      : input_(input),
        output_(output),
        name_(name),
        now_ns_(input.context.logical_ns()),
        cell_(std::move(cell)) {}

  void begin(View event) {
    cell_.created_ns = now_ns_;
    set(event);
    finish();
  }

  void take() {
    const kernel::Mail& mail = input_.mail;
    if (mail.kind == MailKind::kEvent) {
      const View event = View::of(mail.value);
      if (mail.schema == kScheduleSet) {
        const auto replaces = event.find("replaces");
        const bool may_set =
            cell_.phase == Phase::kRemoving || (replaces && replaces->boolean().value_or(false));
        if (may_set) set(event);
      } else if (const auto action = read_action(event)) {
        control(*action);
      }
    } else if (mail.kind != MailKind::kProgress) {
      take_receipt();
    }
    finish();
  }

 private:
  std::string reference(std::string_view what) const {
    return std::string(what) + ':' + std::to_string(cell_.generation);
  }

  // Gives up what is asked or waited for. The answers that are under way are stale from now on.
  void stop_waiting() {
    if (!is_new_) {
      output_.stop_effects(reference("next"));
      output_.stop_effects(reference("due"));
    }
    ++cell_.generation;
    cell_.next_ns.reset();
    cell_.error.clear();
  }

  void set(View event) {
    auto spec = read_spec(*event.find("spec"));
    if (!spec) return;  // what is sent was checked
    stop_waiting();
    cell_.spec = std::move(*spec);
    Rule& rule = cell_.spec.rule;
    if (rule.every_ns != 0 && rule.from_ns == 0) rule.from_ns = later(now_ns_, rule.every_ns);
    // One moment that has passed is due at once.
    cell_.after_ns = rule.at_ns != 0 ? rule.at_ns - 1 : now_ns_;
    const auto paused = event.find("paused");
    cell_.phase = paused && paused->boolean().value_or(false) ? Phase::kPaused : Phase::kActive;
    if (cell_.phase == Phase::kActive) ask();
  }

  void control(Action action) {
    switch (action) {
      case Action::kPause:
        if (cell_.phase != Phase::kActive) return;
        cell_.phase = Phase::kPaused;
        return stop_waiting();
      case Action::kResume:
        if (cell_.phase != Phase::kPaused) return;
        cell_.phase = Phase::kActive;
        is_resuming_ = true;
        return ask();
      case Action::kRun:
        if (cell_.phase == Phase::kActive || cell_.phase == Phase::kPaused) run_now();
        return;
      case Action::kRemove: return remove(false);
      case Action::kRemoveAndCancel: return remove(true);
    }
  }

  void remove(bool cancels) {
    if (cell_.phase == Phase::kActive) stop_waiting();
    cell_.phase = Phase::kRemoving;
    cell_.queued.clear();
    if (cancels) stop_runs();
  }

  void stop_runs() {
    for (ScheduleRun& run : cell_.runs) {
      if (!std::exchange(run.is_stopping, true))
        output_.stop_effects("run:" + std::to_string(run.number));
    }
  }

  // It counts as due now. No other due time of the schedule has the same one.
  void run_now() {
    std::uint64_t due = std::max(now_ns_, cell_.last_manual_ns + 1);
    if (due % kSecondNs == 0) ++due;
    cell_.last_manual_ns = due;
    decide(due);
  }

  // Which due times have passed, and which is the next.
  void ask() {
    ++cell_.generation;
    cell_.next_ns.reset();
    DueQuery query;
    query.after_ns = cell_.after_ns;
    query.until_ns = now_ns_;
    query.limit = kDuePerAnswer;
    const std::uint64_t window =
        cell_.spec.catch_up == CatchUp::kNone ? kGraceNs : std::max(cell_.spec.window_ns, kGraceNs);
    query.since_ns = earlier(now_ns_, later(window, cell_.spec.jitter_ns));
    query.keeps_last = cell_.spec.catch_up != CatchUp::kAll;
    // What passed while it was paused is counted and never started. One moment is not lost.
    if (is_resuming_ && cell_.spec.rule.at_ns == 0) query.since_ns = later(now_ns_, 1);
    output_.begin_effect(defs::kScheduleNext, {}, reference("next"));
    write_query(output_.bytes(), cell_.spec.rule, query);
  }

  void set_timer(std::uint64_t at_ns) {
    output_.begin_effect(defs::kTimerSet, {}, reference("due"));
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 2);
    codec::write_text(out, "key");
    codec::write_null(out);
    codec::write_text(out, "deliver_at_ns");
    codec::write_nat(out, at_ns);
  }

  void take_receipt() {
    const std::string& from = input_.mail.origin.issuer_ref;
    if (from.starts_with("run:")) return take_end(from);
    if (cell_.phase != Phase::kActive) return;
    if (from == reference("next")) return take_answer();
    if (from == reference("due")) ring();
  }

  void take_answer() {
    const kernel::Mail& mail = input_.mail;
    const bool is_ok = mail.kind == MailKind::kReceipt && mail.status == ReceiptStatus::kOk;
    const auto times = is_ok ? read_due_times(View::of(mail.value)) : std::nullopt;
    if (!times) {
      cell_.error = error_text(mail.value);
      return set_timer(later(now_ns_, kRetryNs));
    }
    cell_.error.clear();
    if (times->passed > 0) {
      cell_.counts.missed += times->passed;
      cell_.after_ns = times->due_ns.empty() ? times->reached_ns : times->due_ns.front() - 1;
      note({times->due_ns.empty() ? times->reached_ns : times->due_ns.front(),
            DueOutcome::kMissed,
            {},
            std::to_string(times->passed) + " due times passed"});
    }
    for (std::size_t i = 0; i < times->due_ns.size(); ++i) {
      const std::uint64_t due = times->due_ns[i];
      // It rings like any other if its delay is not over.
      if (later(due, delay_of(cell_.spec, name_, due)) > now_ns_) {
        return wait_for(due);
      }
      const bool is_last = i + 1 == times->due_ns.size();
      const bool is_late = is_past_grace(due);
      if (is_late && cell_.spec.catch_up == CatchUp::kLatest && !is_last) {
        miss(due);
      } else {
        decide(due);
      }
      cell_.after_ns = due;
    }
    cell_.after_ns = std::max(cell_.after_ns, times->reached_ns);
    if (!times->is_complete) return ask();
    if (!times->next_ns) {
      ++cell_.generation;
      cell_.phase = Phase::kEnded;
      return;
    }
    wait_for(*times->next_ns);
  }

  bool is_past_grace(std::uint64_t due) const {
    return later(due, later(delay_of(cell_.spec, name_, due), kGraceNs)) < now_ns_;
  }

  void wait_for(std::uint64_t due) {
    cell_.next_ns = due;
    const std::uint64_t starts = later(due, delay_of(cell_.spec, name_, due));
    set_timer(std::min(starts, later(now_ns_, kAskAgainNs)));
  }

  void ring() {
    const bool is_due = cell_.next_ns && later(*cell_.next_ns, delay_of(cell_.spec, name_,
                                                                        *cell_.next_ns)) <= now_ns_;
    if (is_due && !is_past_grace(*cell_.next_ns)) {
      cell_.after_ns = *cell_.next_ns;
      decide(cell_.after_ns);
    }
    ask();
  }

  void note(Due due) {
    cell_.recent.push_back(std::move(due));
    if (cell_.recent.size() > kMostRecent) cell_.recent.erase(cell_.recent.begin());
  }

  void miss(std::uint64_t due) {
    ++cell_.counts.missed;
    note({due, DueOutcome::kMissed, {}, "a later due time was started"});
  }

  void skip(std::uint64_t due, std::string why) {
    ++cell_.counts.skipped;
    note({due, DueOutcome::kSkipped, {}, std::move(why)});
  }

  void decide(std::uint64_t due) {
    if (cell_.runs.empty() && cell_.queued.empty()) return start(due);
    switch (cell_.spec.overlap) {
      case Overlap::kSkip: return skip(due, "an earlier run had not ended");
      case Overlap::kAllow:
        if (cell_.runs.size() < kMostRuns) return start(due);
        return skip(due, "100 earlier runs had not ended");
      case Overlap::kQueue:
        if (cell_.queued.size() >= kMostQueued)
          return skip(due, "100 due times wait for an earlier run to end");
        cell_.queued.push_back(due);
        return;
      case Overlap::kCancel:
        for (const std::uint64_t waiting : cell_.queued)
          skip(waiting, "a later due time took its place");
        cell_.queued.assign(1, due);
        return stop_runs();
    }
  }

  void start(std::uint64_t due) {
    Start made = start_of(cell_.spec, name_, due);
    const std::uint64_t number = ++cell_.runs_begun;
    ++cell_.counts.started;
    output_.begin_effect(defs::kWorkflowRun, {}, "run:" + std::to_string(number));
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 4);
    codec::write_text(out, "key");
    codec::write_bytes(out, key_of(made.key));
    codec::write_text(out, "event");
    codec::write_text(out, cell_.spec.event);
    codec::write_text(out, "value");
    codec::write_bytes(out, made.value);
    codec::write_text(out, "workflow");
    codec::write_text(out, cell_.spec.workflow);
    note({due, DueOutcome::kRunning, made.key, {}});
    cell_.runs.push_back({number, due, std::move(made.key), false});
  }

  void take_end(std::string_view reference_text) {
    const auto run =
        std::find_if(cell_.runs.begin(), cell_.runs.end(), [&](const ScheduleRun& each) {
          return reference_text == "run:" + std::to_string(each.number);
        });
    if (run == cell_.runs.end()) return;
    const kernel::Mail& mail = input_.mail;
    DueOutcome outcome = DueOutcome::kFailed;
    std::string why;
    if (mail.kind == MailKind::kReceipt && mail.status == ReceiptStatus::kOk) {
      outcome = DueOutcome::kCompleted;
      ++cell_.counts.completed;
    } else if (mail.kind == MailKind::kReceipt && mail.status == ReceiptStatus::kCancelled) {
      outcome = DueOutcome::kCancelled;
      ++cell_.counts.cancelled;
    } else {
      why = error_text(mail.value);
      ++cell_.counts.failed;
    }
    for (Due& due : cell_.recent) {
      if (due.key != run->key || due.outcome != DueOutcome::kRunning) continue;
      due.outcome = outcome;
      due.note = std::move(why);
      break;
    }
    cell_.runs.erase(run);
    if (!cell_.runs.empty() || cell_.queued.empty()) return;
    const std::uint64_t due = cell_.queued.front();
    cell_.queued.erase(cell_.queued.begin());
    start(due);
  }

  void finish() {
    const bool is_idle = cell_.runs.empty() && cell_.queued.empty();
    if (cell_.phase == Phase::kRemoving && is_idle) return output_.remove();
    output_.begin_state();
    write_cell(output_.bytes(), cell_);
    if (cell_.phase != Phase::kEnded || !is_idle) return;
    output_.begin_result();
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 3);
    codec::write_text(out, "missed");
    codec::write_nat(out, cell_.counts.missed);
    codec::write_text(out, "skipped");
    codec::write_nat(out, cell_.counts.skipped);
    codec::write_text(out, "started");
    codec::write_nat(out, cell_.counts.started);
  }

  const kernel::StepInput& input_;
  kernel::StepOutput& output_;
  std::string_view name_;
  std::uint64_t now_ns_;
  Cell cell_;
  bool is_new_ = !input_.state.has_value();
  bool is_resuming_ = false;
};

}  // namespace

void ScheduleMachine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  const std::string_view name = View::of(input.context.key()).text().value_or("");
  if (!input.state) {
    const bool begins = input.mail.kind == MailKind::kEvent && input.mail.schema == kScheduleSet;
    if (!begins || name_problem(name)) return output.remove();
    const View event = View::of(input.mail.value);
    if (!read_spec(*event.find("spec"))) return output.remove();
    return ScheduleTurn(input, output, name, {}).begin(event);
  }
  auto cell = read_cell(View::of(*input.state));
  if (!cell) return output.fail("schedule.bad_state", "the state is not that of a schedule");
  ScheduleTurn(input, output, name, std::move(*cell)).take();
}

}  // namespace holdfast::schedules
