// SPDX-License-Identifier: Apache-2.0
#include "steps/room.h"

#include <string>

#include "steps/parts.h"

namespace holdfast::steps {

std::size_t weight(const Outbox& outbox) {
  std::size_t bytes = kBesides + kNumberBytes * outbox.alarms.size();
  for (const ChildName& child : outbox.stops)
    bytes += child.workflow.size() + child.key.size() + 3 * kNumberBytes;
  if (outbox.ending) {
    bytes += outbox.ending->failure.code.size() + outbox.ending->failure.message.size() +
             outbox.ending->result.size();
  }
  return bytes;
}

std::optional<Failure> too_large(std::size_t bytes, const std::optional<Ending>& ending) {
  if (bytes <= (ending ? kOutputBytes : kMaxLiveBytes)) return std::nullopt;
  if (ending && !ending->is_failure)
    return Failure{"steps.result_too_large",
                   "the result, and what goes out before it, is too large"};
  return Failure{kStateTooLargeCode, kStateTooLarge};
}

std::string describe_size(const Graph& graph, const State& state, std::size_t bytes) {
  std::size_t most = 0;
  StepIndex at = 0;
  for (StepIndex step = 0; step < state.steps.size(); ++step) {
    const std::size_t queued = count_queued(state.steps[step]) + state.steps[step].running.size();
    if (queued <= most) continue;
    most = queued;
    at = step;
  }
  std::string text = std::string(kStateTooLarge) + ": " + std::to_string(bytes >> 10) + " KiB";
  if (most > 1)
    text += ", with " + std::to_string(most) + " events for step '" + graph.step(at).name + "'";
  return text;
}

Failure too_large_to_run(const Graph& graph, StepIndex step, Arena& arena) {
  return {"steps.too_large_to_run", arena.keep("there is no room to give step '" +
                                               graph.step(step).name + "' what it needs to see")};
}

}  // namespace holdfast::steps
