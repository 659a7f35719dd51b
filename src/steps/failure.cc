// SPDX-License-Identifier: Apache-2.0
// A step has failed. Whether it is tried again was decided by whoever ran it, and came with the
// failure; what it could not decide, because it took too long or could not be reached, it is asked
// for now. Then the error handler of the step, then the end of the run.
#include <algorithm>
#include <utility>
#include <vector>

#include "codec/cbor_writer.h"
#include "steps/work.h"

namespace holdfast::steps {
namespace {

// Of what the next attempt is told; many may wait to be tried again.
constexpr std::size_t kMaxLastMessageBytes = 256;

std::string_view cut(std::string_view text) {
  std::size_t size = std::min(text.size(), kMaxLastMessageBytes);
  while (size != 0 && size < text.size() && (text[size] & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

std::uint64_t elapsed(const Work& work, const Attempt& attempt) {
  return work.now_ns > attempt.first_ns ? work.now_ns - attempt.first_ns : 0;
}

// How often the handler has helped already; a handler that has not is not listed.
std::uint32_t& count_of(Lineage& lineage, StepIndex handler) {
  for (Recovery& recovery : lineage) {
    if (recovery.handler == handler) return recovery.count;
  }
  return lineage.emplace_back(Recovery{handler, 0}).count;
}

// A sys/StepFailed@1. Keys in canonical order: shorter first, then bytewise.
base::ByteView describe(Work& work, StepIndex step, const Attempt& attempt,
                        const Failure& failure) {
  codec::Buffer out;
  const bool has_time = work.graph.has(Rules::kTellsAttempts);
  codec::write_map_head(out, has_time ? 8 : 7);
  codec::write_text(out, "code");
  codec::write_text(out, failure.code);
  codec::write_text(out, "step");
  codec::write_text(out, work.graph.step(step).name);
  codec::write_text(out, "event");
  codec::write_text(out, work.graph.type(attempt.event.type).schema);
  codec::write_text(out, "value");
  codec::write_bytes(out, attempt.event.value);
  codec::write_text(out, "message");
  codec::write_text(out, failure.message);
  codec::write_text(out, "attempts");
  codec::write_nat(out, attempt.failures);
  codec::write_text(out, "elapsed_ns");
  codec::write_nat(out, elapsed(work, attempt));
  if (has_time) {
    codec::write_text(out, "failed_at_ns");
    codec::write_nat(out, work.now_ns);
  }
  return work.state.arena.keep(out.view());
}

// For questions about the run, and for the next attempt.
void keep_failure(Work& work, StepIndex step, Attempt& attempt, const Failure& failure) {
  ++attempt.failures;
  if (!work.graph.has(Rules::kTellsAttempts)) return;
  const Failure kept{failure.code, cut(failure.message)};
  attempt.last = kept;
  std::vector<PastFailure>& past = work.state.failures;
  if (past.size() == kMaxPastFailures) past.erase(past.begin());
  past.push_back({step, attempt.item, attempt.failures, work.now_ns, kept});
}

// For readers of the stream.
void tell_attempt(Work& work, StepIndex step, Running& running, const Failure& failure,
                  std::uint64_t due_ns) {
  if (!work.graph.has(Rules::kTellsAttempts)) return;
  Attempt& attempt = running.attempt;
  attempt.has_published = false;  // what comes again comes after this entry
  work.publish({.kind = EntryKind::kAttemptFailed,
                .step = step,
                .slot = running.slot,
                .item = attempt.item,
                .failure = failure,
                .attempts = attempt.failures,
                .elapsed_ns = elapsed(work, attempt),
                .due_ns = due_ns});
}

// When the next attempt begins; 0: never, and by earlier rules also at once.
std::uint64_t next_ns(const Work& work, const Failed& failed) {
  if (!failed.is_judged || !failed.retry_ns) return 0;
  if (*failed.retry_ns == 0 && !work.graph.has(Rules::kTellsRepeats)) return 0;
  return std::max<std::uint64_t>(1, after(work.now_ns, *failed.retry_ns));
}

void try_again(Work& work, StepIndex step, Attempt attempt, std::uint64_t delay_ns) {
  std::vector<Attempt>& queue = work.state.steps[step].queue;
  if (delay_ns != 0) {
    attempt.not_before_ns = after(work.now_ns, delay_ns);
    work.emit(ScheduleWakeUp{attempt.not_before_ns});
  }
  queue.insert(queue.begin(), std::move(attempt));
}

// Whether a handler takes it.
bool hand_over(Work& work, StepIndex step, const Attempt& attempt, const Failure& failure) {
  const auto handler = work.graph.handler_of(step);
  const auto type = work.graph.step_failed();
  if (!handler || !type) return false;
  Lineage lineage = attempt.lineage;
  std::uint32_t& count = count_of(lineage, *handler);
  if (count >= work.graph.step(*handler).max_recoveries) return false;
  ++count;
  work.emit(QueueEvent{{.event = {*type, false, describe(work, step, attempt, failure)},
                        .target = *handler,
                        .stream = attempt.stream,
                        .lineage = std::move(lineage)}});
  return true;
}

}  // namespace

void fail_run(Work& work, Entry entry) {
  tell_early(work);
  work.state.is_running = false;
  work.has_exited = true;
  const Failure failure = entry.failure;
  work.publish(std::move(entry));
  work.emit(FailRun{failure});
}

void step_failed(Work& work, StepIndex step, std::size_t at, const Failed& failed) {
  Running& running = work.state.steps[step].running[at];
  const bool waits_for_verdict = work.graph.has(Rules::kTellsRepeats);
  if (!failed.is_judged && !running.unjudged) {
    running.unjudged = failed.failure;
    keep_failure(work, step, running.attempt, failed.failure);
    if (!waits_for_verdict) tell_attempt(work, step, running, failed.failure, 0);
    return run_again(work, step, running);
  }
  // Whoever judges says nothing about the failure itself.
  const Failure failure = running.unjudged ? *running.unjudged : failed.failure;
  if (!running.unjudged) keep_failure(work, step, running.attempt, failure);
  if (!running.unjudged || waits_for_verdict)
    tell_attempt(work, step, running, failure, next_ns(work, failed));
  Attempt attempt = leave_slot(work, step, at);
  if (failed.is_judged && failed.retry_ns) {
    try_again(work, step, std::move(attempt), *failed.retry_ns);
    return drain(work, step);
  }
  end_item(work, step, attempt.item);
  if (hand_over(work, step, attempt, failure)) return drain(work, step);
  fail_run(work, {.kind = EntryKind::kFailed,
                  .step = step,
                  .item = attempt.item,
                  .event = attempt.event,
                  .failure = failure,
                  .attempts = attempt.failures,
                  .elapsed_ns = elapsed(work, attempt)});
}

}  // namespace holdfast::steps
