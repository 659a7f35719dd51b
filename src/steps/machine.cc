// SPDX-License-Identifier: Apache-2.0
#include "steps/machine.h"

#include <algorithm>
#include <utility>

#include "codec/view.h"
#include "steps/parts.h"
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
  broker->state.parts = input.parts;
  Turn turn(*this, input, output, *broker);
  turn.take(input.mail);
  turn.finish();
}

bool StepsMachine::write_whole(base::ByteView state, const kernel::StateParts& parts,
                               codec::Buffer& out) const {
  auto broker = broker_in(state, graph_);
  const auto status = codec::View::of(state).find("status");
  if (!broker || !status || !status->text()) return false;
  broker->state.parts = &parts;
  bring_all(graph_, broker->state);
  write_steps_state(out, broker->state, broker->outbox, *status->text());
  return true;
}

}  // namespace holdfast::steps
