// SPDX-License-Identifier: Apache-2.0
#include "steps/run_params.h"

#include "codec/cbor_writer.h"
#include "codec/wrapped.h"
#include "steps/weight.h"

namespace holdfast::steps {
namespace {

void write_event(codec::Buffer& out, const Graph& graph, const Event& event) {
  codec::write_text(out, graph.type(event.type).schema);
  codec::write_bytes(out, event.value);
}

void write_buffers(codec::Buffer& out, const Graph& graph, const StepState& step) {
  codec::write_list_head(out, step.buffers.size());
  for (const Buffer& buffer : step.buffers) {
    codec::write_list_head(out, 2);
    codec::write_text(out, buffer.name);
    codec::write_list_head(out, buffer.events.size());
    for (const Event& event : buffer.events) {
      codec::write_list_head(out, 2);
      write_event(out, graph, event);
    }
  }
}

void write_end(codec::Buffer& out, const ChildEnd& end) {
  codec::write_nat(out, static_cast<std::uint64_t>(end.fate));
  codec::write_bytes(out, end.result);
  codec::write_text(out, end.failure.code);
  codec::write_text(out, end.failure.message);
}

// Those of its own item, and only such as say something.
void write_waits(codec::Buffer& out, const Graph& graph, const StepState& step,
                 std::uint64_t item) {
  const auto is_told = [&](const Waiter& waiter) {
    return waiter.trigger.item == item && !waiter.is_open();
  };
  std::uint64_t count = 0;
  for (const Waiter& waiter : step.waiters) count += is_told(waiter) ? 1U : 0U;
  codec::write_list_head(out, count);
  for (const Waiter& waiter : step.waiters) {
    if (!is_told(waiter)) continue;
    const bool has_ended = waiter.child && waiter.child->end;
    // Without an answer: it timed out.
    codec::write_list_head(out, waiter.resolved ? 3 : has_ended ? 5 : 1);
    codec::write_text(out, waiter.id);
    if (waiter.resolved) write_event(out, graph, *waiter.resolved);
    if (has_ended) write_end(out, *waiter.child->end);
  }
}

void write_store(codec::Buffer& out, const State& state) {
  std::uint64_t count = 0;
  for (const StoreEntry& entry : state.store) count += entry.value.empty() ? 0U : 1U;
  codec::write_list_head(out, count);
  for (const StoreEntry& entry : state.store) {
    if (entry.value.empty()) continue;
    codec::write_list_head(out, 2);
    codec::write_text(out, entry.key);
    codec::write_bytes(out, entry.value);
  }
}

}  // namespace

void RunParams::write(codec::Buffer& out, StepIndex step, const Running& running) const {
  const Attempt& attempt = running.attempt;
  // Keys in canonical order: shorter first, then bytewise.
  codec::write_map_head(out, 6);
  codec::write_text(out, "run");
  codec::write_nat(out, running.run);
  codec::write_text(out, "slot");
  codec::write_nat(out, running.slot);
  codec::write_text(out, "step");
  codec::write_text(out, graph.step(step).name);
  codec::write_text(out, "work");
  codec::write_wrapped(out, [&](codec::Buffer& work) { write_work(work, step, running); });
  codec::write_text(out, "event");
  codec::write_text(out, graph.type(attempt.event.type).schema);
  codec::write_text(out, "failures");
  codec::write_nat(out, attempt.failures);
}

void RunParams::write_work(codec::Buffer& out, StepIndex step, const Running& running) const {
  const Attempt& attempt = running.attempt;
  const bool has_last = graph.has(Rules::kTellsAttempts);
  codec::write_list_head(out, has_last ? 11 : 10);
  codec::write_bytes(out, key);
  codec::write_bool(out, attempt.event.is_list);
  codec::write_bytes(out, attempt.event.value);
  codec::write_nat(out, attempt.item);
  codec::write_nat(out, attempt.first_ns);
  codec::write_nat(out, now_ns);
  codec::write_list_head(out, running.unjudged ? 2 : 0);
  if (running.unjudged) {
    codec::write_text(out, running.unjudged->code);
    codec::write_text(out, running.unjudged->message);
  }
  write_buffers(out, graph, state.steps[step]);
  write_waits(out, graph, state.steps[step], attempt.item);
  write_store(out, state);
  if (!has_last) return;
  codec::write_list_head(out, attempt.last ? 2 : 0);
  if (!attempt.last) return;
  codec::write_text(out, attempt.last->code);
  codec::write_text(out, attempt.last->message);
}

std::size_t RunParams::weight(StepIndex step, const Running& running) const {
  std::size_t bytes = kBesides + key.size() + steps::weight(running);
  for (const Buffer& buffer : state.steps[step].buffers) bytes += steps::weight(buffer);
  for (const Waiter& waiter : state.steps[step].waiters) {
    if (waiter.trigger.item == running.attempt.item) bytes += steps::weight(waiter);
  }
  for (const StoreEntry& entry : state.store) bytes += steps::weight(entry);
  // Types stand here by their names.
  for (const Buffer& buffer : state.steps[step].buffers) {
    for (const Event& event : buffer.events) bytes += graph.type(event.type).schema.size() + 3;
  }
  return bytes;
}

}  // namespace holdfast::steps
