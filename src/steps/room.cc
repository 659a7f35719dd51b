// SPDX-License-Identifier: Apache-2.0
#include "steps/room.h"

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

Failure too_large_to_run(const Graph& graph, StepIndex step, Arena& arena) {
  return {"steps.too_large_to_run", arena.keep("there is no room to give step '" +
                                               graph.step(step).name + "' what it needs to see")};
}

}  // namespace holdfast::steps
