// SPDX-License-Identifier: Apache-2.0
// What a turn asks of the kernel, within the budgets of a step (kernel/limits.h). What does not fit
// stays in the state: a run that is not issued, an entry that is not out, an end. The next turn
// goes on with it; if nothing else would bring one, a timer that is due at once does.
#include <algorithm>
#include <utility>
#include <vector>

#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/limits.h"
#include "steps/due.h"
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

// With more than that waiting nothing else is begun: what runs puts out faster than it can leave.
constexpr std::size_t kMaxEntriesWaiting = 256;

// What stands around the values: names, heads, timers.
constexpr std::size_t kReservedBytes = std::size_t{32} << 10;
constexpr std::size_t kOutputBytes = kernel::kMaxStepOutputBytes - kReservedBytes;

// What is live in a run. The rest of a step's bytes is for what goes out.
constexpr std::size_t kMaxLiveBytes = std::size_t{896} << 10;
static_assert(kMaxLiveBytes < kOutputBytes);

std::size_t weight_of(const Outbox& outbox) {
  std::size_t bytes = kBesides + kNumberBytes * outbox.alarms.size();
  for (const base::ByteView entry : outbox.entries) bytes += entry.size() + kNumberBytes;
  if (outbox.ending) {
    bytes += outbox.ending->failure.code.size() + outbox.ending->failure.message.size() +
             outbox.ending->result.size();
  }
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

}  // namespace

void Turn::finish() {
  check_idle();
  entries_.finish();
  check_size();
  issue_entries();
  if (is_removed_) return output_.remove();
  if (try_to_end()) return;
  if (!outbox_.ending) {
    issue_runs();
    set_alarm();
  }
  go_on_later();
  write_state(outbox_.ending ? "ending" : outbox_.is_idle_told ? "idle" : "running");
}

// Entries weigh the same in the state and outside.
std::size_t Turn::room() const {
  const std::size_t taken = weight(state_) + weight_of(outbox_) + issued_bytes_;
  return taken < kOutputBytes ? kOutputBytes - taken : 0;
}

// A run that cannot be kept any more ends, with what it had published before.
void Turn::fail_run(std::string_view code, std::string_view message) {
  state_.is_running = false;
  state_.steps.assign(state_.steps.size(), StepState());
  state_.streams.clear();
  state_.store.clear();
  entries_.finish();
  outbox_.entries.resize(std::min(outbox_.entries.size(), old_entries_));
  outbox_.ending.reset();
  entries_.add({.kind = EntryKind::kFailed, .failure = {code, message}});
  end({.is_failure = true, .failure = {code, message}, .result = {}});
}

void Turn::check_size() {
  if (weight(state_) + weight_of(outbox_) <= kMaxLiveBytes) return;
  fail_run("steps.state_too_large",
           "what is live in the run, and what it puts out at once, is more than 896 KiB");
}

void Turn::issue_entries() {
  const std::size_t count = std::min(outbox_.entries.size(), kernel::kMaxAnnotationsPerStep);
  for (std::size_t i = 0; i < count; ++i) {
    output_.begin_annotation();
    output_.bytes().append(outbox_.entries[i]);
    issued_bytes_ += outbox_.entries[i].size() + kNumberBytes;
  }
  outbox_.entries.erase(outbox_.entries.begin(),
                        outbox_.entries.begin() + static_cast<std::ptrdiff_t>(count));
  has_moved_ = count != 0;
}

void Turn::issue_runs() {
  const RunParams params{graph_, state_, input_.context.key(), now_ns_};
  std::size_t left = room();
  for (const auto& [step, running] : not_issued(state_)) {
    if (issued_ == kMaxRunsPerTurn || outbox_.open_runs == kMaxOpenRuns) return;
    if (outbox_.entries.size() > kMaxEntriesWaiting) return;  // first what others have put out
    const std::size_t bytes = params.weight(step, *running);
    if (bytes > left) {
      if (has_moved_ || outbox_.open_runs != 0) return;  // there will be more room
      fail_run("steps.too_large_to_run",
               state_.arena.keep("there is no room to give step '" + graph_.step(step).name +
                                 "' what it needs to see"));
      return issue_entries();
    }
    left -= bytes;
    running->is_issued = true;
    running->seen = state_.last_change;
    output_.begin_effect(machine_.effect_of(step), {}, "r" + std::to_string(running->run));
    params.write(output_.bytes(), step, *running);
    ++outbox_.open_runs;
    ++issued_;
    issued_bytes_ += bytes;
    has_moved_ = true;
  }
}

// The next thing that is due needs a timer, unless one is set that is not later.
void Turn::set_alarm() {
  if (outbox_.ending) return;
  const auto next = next_due(state_);
  if (!next || (!outbox_.alarms.empty() && outbox_.alarms.front() <= next->at_ns)) return;
  if (outbox_.alarms.size() == kMaxAlarms)
    return fail_run("steps.too_many_alarms", "more than 8000 timers would be set");
  outbox_.alarms.insert(outbox_.alarms.begin(), next->at_ns);
  write_timer(next->at_ns, "a" + std::to_string(next->at_ns));
}

void Turn::go_on_later() {
  const bool is_left =
      !outbox_.entries.empty() || outbox_.ending || (has_moved_ && !not_issued(state_).empty());
  if (!is_left || outbox_.is_continuing) return;
  outbox_.is_continuing = true;
  write_timer(0, "c");  // due whatever the clock says
}

bool Turn::try_to_end() {
  if (!outbox_.ending || !outbox_.entries.empty()) return false;
  const Ending ending = *std::exchange(outbox_.ending, std::nullopt);
  output_.drop_effects();
  write_state(ending.is_failure ? "failed" : "completed");
  if (ending.is_failure) {
    output_.fail(std::string(ending.failure.code), std::string(ending.failure.message));
  } else {
    output_.begin_result();
    output_.bytes().append(ending.result);
  }
  return true;
}

// Keys in canonical order: shorter first, then bytewise.
void Turn::write_state(std::string_view status) {
  codec::Buffer broker;
  write_broker(broker, state_, outbox_);
  output_.begin_state();
  codec::Buffer& out = output_.bytes();
  codec::write_map_head(out, 2);
  codec::write_text(out, "broker");
  codec::write_bytes(out, broker.view());
  codec::write_text(out, "status");
  codec::write_text(out, status);
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
