// SPDX-License-Identifier: Apache-2.0
#include "steps/weight.h"

namespace holdfast::steps {
namespace {

// Small as most numbers are, a bound counts them as they could be.
constexpr std::size_t numbers(std::size_t count) { return count * kNumberBytes; }

// The same as if they stood in the state: whether a run is too large does not depend on that.
std::size_t of_parts(const std::vector<Part>& parts) {
  std::size_t bytes = 0;
  for (const Part& part : parts) bytes += static_cast<std::size_t>(part.weight);
  return bytes;
}

std::size_t of_lineage(const Lineage& lineage) { return numbers(1 + 3 * lineage.size()); }

std::size_t weight(const Stream& stream) {
  std::size_t bytes = numbers(6) + of_lineage(stream.lineage);
  for (const JoinState& join : stream.joins) {
    bytes += numbers(4) + of_lineage(join.lineage) + of_parts(join.earlier);
    for (const Event& event : join.members) bytes += steps::weight(event);
  }
  return bytes;
}

std::size_t weight(const Child& child) {
  const std::size_t end = child.end ? child.end->result.size() + child.end->failure.code.size() +
                                          child.end->failure.message.size() + numbers(4)
                                    : 0;
  return numbers(8) + child.workflow.size() + child.key.size() + child.schema.size() +
         child.value.size() + end;
}

std::size_t weight(const StepState& step) {
  std::size_t bytes = numbers(6) + of_parts(step.later);
  for (const Attempt& attempt : step.last) bytes += steps::weight(attempt);
  for (const Held& held : step.held)
    bytes += numbers(2) + steps::weight(held.event) + of_lineage(held.lineage);
  for (const Attempt& attempt : step.queue) bytes += steps::weight(attempt);
  for (const Running& running : step.running) bytes += steps::weight(running);
  for (const Buffer& buffer : step.buffers) bytes += steps::weight(buffer);
  for (const Waiter& waiter : step.waiters) bytes += steps::weight(waiter);
  return bytes;
}

}  // namespace

// A type has few bytes, as there are few.
std::size_t weight(const Event& event) { return 10 + event.value.size(); }

// Numbers that are 0 take a byte.
std::size_t weight(const Attempt& attempt) {
  const auto number = [](std::uint64_t n) { return n == 0 ? std::size_t{1} : kNumberBytes; };
  return 2 + weight(attempt.event) + number(attempt.item) + number(attempt.stream) +
         number(attempt.failures) + number(attempt.first_ns) + number(attempt.not_before_ns) +
         of_lineage(attempt.lineage) +
         (attempt.last ? numbers(2) + attempt.last->code.size() + attempt.last->message.size()
                       : 0) +
         (attempt.has_published ? 1 : 0);
}

std::size_t weight(const Running& running) {
  const std::size_t texts =
      running.unjudged ? running.unjudged->code.size() + running.unjudged->message.size() : 0;
  return weight(running.attempt) + numbers(8) + texts;
}

std::size_t weight(const Buffer& buffer) {
  std::size_t bytes = numbers(4) + buffer.name.size();
  for (const Event& event : buffer.events) bytes += weight(event);
  return bytes;
}

std::size_t weight(const Waiter& waiter) {
  std::size_t bytes = numbers(8) + waiter.id.size() + weight(waiter.trigger);
  for (const Requirement& wanted : waiter.requirements)
    bytes += numbers(3) + wanted.field.size() + wanted.value.size();
  if (waiter.child) bytes += weight(*waiter.child);
  return bytes + (waiter.resolved ? weight(*waiter.resolved) : 0);
}

std::size_t weight(const StoreEntry& entry) {
  return numbers(4) + entry.key.size() + entry.value.size();
}

std::size_t weight(const State& state) {
  std::size_t bytes = numbers(12);
  for (const StepState& step : state.steps) bytes += weight(step);
  for (const Stream& stream : state.streams) bytes += weight(stream);
  for (const StoreEntry& entry : state.store) bytes += weight(entry);
  for (const Early& early : state.early) bytes += numbers(3) + weight(early.event);
  for (const PastFailure& past : state.failures)
    bytes += numbers(7) + past.failure.code.size() + past.failure.message.size();
  return bytes;
}

}  // namespace holdfast::steps
