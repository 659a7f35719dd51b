// SPDX-License-Identifier: Apache-2.0
// What a turn asks of the kernel, within the budgets of a step (kernel/limits.h). Entries always go
// out: more than there may be are put together. A run that does not fit stays in the state. The
// next turn goes on with it; if nothing else would bring one, a timer that is due at once does.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/limits.h"
#include "steps/due.h"
#include "steps/parts.h"
#include "steps/room.h"
#include "steps/run_params.h"
#include "steps/turn.h"
#include "steps/weight.h"

namespace holdfast::steps {
namespace {

// Of the effects of a step one is for the alarm and one to go on with the rest.
constexpr std::size_t kMaxRunsPerTurn = kernel::kMaxEffectsPerStep - 2;

// Effects of an instance that may be open: runs, and timers.
constexpr std::uint64_t kMaxOpenRuns = 8000;
constexpr std::size_t kMaxAlarms = 8000;
static_assert(kMaxOpenRuns + kMaxAlarms < kernel::kMaxOpenIntents);

std::size_t weight_of(const Outbox& outbox) {
  std::size_t bytes = weight(outbox);
  for (const base::ByteView entry : outbox.entries) bytes += weight_of_entry(entry.size());
  return bytes;
}

// What has to be issued, in the order in which it was asked for.
std::vector<std::pair<StepIndex, Running*>> not_issued(State& state) {
  std::vector<std::pair<StepIndex, Running*>> all;
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    for (Running& running : state.steps[step].running) {
      if (!running.is_issued) all.emplace_back(step, &running);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second->run < b.second->run; });
  return all;
}

// Children that have to be started, in the order in which they were asked for.
std::vector<Child*> not_started(State& state) {
  std::vector<Child*> all;
  for (StepState& step : state.steps) {
    for (Waiter& waiter : step.waiters) {
      if (waiter.is_open() && waiter.child && !waiter.child->is_issued)
        all.push_back(&*waiter.child);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Child* a, const Child* b) { return a->number < b->number; });
  return all;
}

std::string run_reference(std::uint64_t run) { return "r" + std::to_string(run); }

// Keys in canonical order: shorter first, then bytewise.
void write_key(codec::Buffer& out, base::ByteView key) {
  codec::write_text(out, "key");
  if (key.empty()) return codec::write_null(out);
  codec::write_bytes(out, key);
}
void write_workflow(codec::Buffer& out, std::string_view workflow) {
  codec::write_text(out, "workflow");
  codec::write_text(out, workflow);
}

}  // namespace

// Of each run that is given up its end is heard: it waits already, or will behind this turn.
void Turn::finish() {
  const bool has_mail = input_.context.mail_waiting() != 0 || !reduction_.given_up().empty();
  reduction_.check_idle(has_mail, outbox_.is_idle_told);
  for (const StopChild& stop : reduction_.stops())
    outbox_.stops.push_back({stop.workflow, stop.key});
  entries_.finish();
  const std::size_t bytes = weight(state_) + weight_of(outbox_);
  // Results make a run smaller, and events larger: those wait until there is room for both.
  if (can_hold_ && bytes > kMaxLiveBytesWithEvents && !outbox_.ending) return output_.hold_event();
  check_size(bytes);
  if (is_removed_) return issue_entries(), output_.leave_unhandled();
  if (!outbox_.ending) {
    issue_runs();
    issue_children();
    issue_stops();
    for (const std::uint64_t run : reduction_.given_up()) output_.stop_effects(run_reference(run));
    set_alarm();
  }
  issue_entries();
  if (outbox_.ending) return end_run();
  go_on_later();
  write_state(outbox_.is_idle_told ? "idle" : "running");
}

std::size_t Turn::room() const {
  return room_for_params(weight(state_) + weight_of(outbox_) + issued_bytes_);
}

// A run that cannot be kept any more ends.
void Turn::fail_run(std::string_view code, std::string_view message) {
  state_.is_running = false;
  state_.steps.assign(state_.steps.size(), StepState());
  state_.streams.clear();
  state_.store.clear();
  state_.early.clear();
  outbox_.stops.clear();
  outbox_.ending.reset();
  entries_.add({.kind = EntryKind::kFailed, .failure = {code, message}});
  outbox_.ending = Ending{.is_failure = true, .failure = {code, message}, .result = {}};
}

void Turn::check_size(std::size_t bytes) {
  const auto failure = too_large(bytes, outbox_.ending);
  if (!failure) return;
  outbox_.entries.resize(std::min(outbox_.entries.size(), old_entries_));
  if (failure->code != kStateTooLargeCode || !input_.has_rules_2)
    return fail_run(failure->code, failure->message);
  output_.use_rules_2();
  fail_run(failure->code, state_.arena.keep(describe_size(graph_, state_, bytes)));
}

// The last stands alone, so that whoever looks for the end of a run sees it.
void Turn::issue_entries() {
  const std::span<const base::ByteView> all = outbox_.entries;
  constexpr std::size_t kMost = kernel::kMaxAnnotationsPerStep;
  const std::size_t together = all.size() > kMost ? all.size() - 1 : 0;
  const std::size_t size = (together + kMost - 2) / (kMost - 1);  // of a group
  for (std::size_t at = 0; at < together; at += size) {
    output_.begin_annotation();
    write_several(output_.bytes(), graph_, all.subspan(at, std::min(size, together - at)));
  }
  for (const base::ByteView entry : all.subspan(together)) {
    output_.begin_annotation();
    output_.bytes().append(entry);
  }
  outbox_.entries.clear();
}

void Turn::issue_runs() {
  const RunParams params{graph_, state_, input_.context.key(), now_ns_};
  std::size_t left = room();
  has_moved_ = !outbox_.entries.empty();  // they will be out the next time
  for (const auto& [step, running] : not_issued(state_)) {
    if (issued_ == kMaxRunsPerTurn || outbox_.open_runs == kMaxOpenRuns) return;
    const std::size_t bytes = params.weight(step, *running);
    if (bytes > left) {
      if (has_moved_ || outbox_.open_runs != 0) return;  // there will be more room
      const Failure failure = too_large_to_run(graph_, step, state_.arena);
      return fail_run(failure.code, failure.message);
    }
    left -= bytes;
    running->is_issued = true;
    running->seen = state_.last_change;
    output_.begin_effect(machine_.effect_of(step), {}, run_reference(running->run));
    params.write(output_.bytes(), step, *running);
    ++outbox_.open_runs;
    ++issued_;
    issued_bytes_ += bytes;
    has_moved_ = true;
  }
}

// What starts a child moves from the state into the params of its effect: there is room for it.
void Turn::issue_children() {
  for (Child* child : not_started(state_)) {
    if (issued_ == kMaxRunsPerTurn || outbox_.open_runs == kMaxOpenRuns) return;
    const std::size_t bytes =
        kBesides + child->workflow.size() + child->key.size() + child->schema.size();
    if (bytes > room()) return;
    output_.begin_effect(defs::kWorkflowRun, {}, "w" + std::to_string(child->number));
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 4);
    write_key(out, child->key);
    codec::write_text(out, "event");
    codec::write_text(out, child->schema);
    codec::write_text(out, "value");
    codec::write_bytes(out, child->value);
    write_workflow(out, child->workflow);
    issued_bytes_ += bytes + child->value.size();
    child->is_issued = true;
    child->schema = {};
    child->value = {};
    ++outbox_.open_runs;
    ++issued_;
    has_moved_ = true;
  }
}

void Turn::issue_stops() {
  std::size_t done = 0;
  for (const ChildName& child : outbox_.stops) {
    if (issued_ == kMaxRunsPerTurn) break;
    output_.begin_effect(defs::kWorkflowStop, {}, "s");
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 2);
    write_key(out, child.key);
    write_workflow(out, child.workflow);
    ++issued_;
    ++done;
  }
  outbox_.stops.erase(outbox_.stops.begin(),
                      outbox_.stops.begin() + static_cast<std::ptrdiff_t>(done));
}

// The next thing that is due needs a timer, unless one is set that is not later.
void Turn::set_alarm() {
  if (outbox_.ending) return;
  const auto next = next_due(state_);
  if (!next || (!outbox_.alarms.empty() && outbox_.alarms.front() <= *next)) return;
  if (outbox_.alarms.size() == kMaxAlarms)
    return fail_run("steps.too_many_alarms", "more than 8000 timers would be set");
  outbox_.alarms.insert(outbox_.alarms.begin(), *next);
  write_timer(*next, "a" + std::to_string(*next));
}

void Turn::go_on_later() {
  const bool is_left =
      !outbox_.stops.empty() ||
      (has_moved_ && (!not_issued(state_).empty() || !not_started(state_).empty()));
  if (!is_left || outbox_.is_continuing) return;
  outbox_.is_continuing = true;
  write_timer(0, "c");  // due whatever the clock says
}

void Turn::end_run() {
  const Ending ending = *std::exchange(outbox_.ending, std::nullopt);
  output_.drop_effects();
  write_state(ending.is_failure ? "failed" : "completed");
  if (ending.is_failure) {
    output_.fail(std::string(ending.failure.code), std::string(ending.failure.message));
  } else {
    output_.begin_result();
    output_.bytes().append(ending.result);
  }
}

// A record of before has no parts, and one that has none now must not need them when it is
// replayed.
void Turn::write_state(std::string_view status) {
  if (input_.can_part) {
    put_away(graph_, state_, output_);
  } else if (has_parts(state_)) {
    bring_all(graph_, state_);
  }
  output_.begin_state();
  write_steps_state(output_.bytes(), state_, outbox_, status);
}

void Turn::write_timer(std::uint64_t due_ns, std::string_view ref) {
  output_.begin_effect(defs::kTimerSet, {}, ref);
  codec::Buffer& out = output_.bytes();
  codec::write_map_head(out, 2);
  codec::write_text(out, "key");
  codec::write_null(out);
  codec::write_text(out, "deliver_at_ns");
  codec::write_nat(out, due_ns);
}

}  // namespace holdfast::steps
