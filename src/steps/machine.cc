// SPDX-License-Identifier: Apache-2.0
#include "steps/machine.h"

#include <algorithm>
#include <utility>

#include "steps/turn.h"

namespace holdfast::steps {
std::string effect_name(std::string_view workflow, std::string_view step) {
  const std::size_t at = std::min(workflow.rfind('@'), workflow.size());
  return std::string(workflow.substr(0, at)) + "." + std::string(step) +
         std::string(workflow.substr(at));
}

StepsMachine::StepsMachine(Graph graph, std::string_view workflow) : graph_(std::move(graph)) {
  for (const StepDef& step : graph_.steps()) effects_.push_back(effect_name(workflow, step.name));
}

void StepsMachine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  std::optional<Broker> broker(std::in_place, graph_.steps().size());
  if (input.state) broker = broker_in(*input.state, graph_);
  if (!broker)
    return output.fail("steps.bad_state", "the stored state is not one of this step workflow");
  Turn turn(*this, input, output, *broker);
  turn.take(input.mail);
  turn.finish();
}

}  // namespace holdfast::steps
