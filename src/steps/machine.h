// SPDX-License-Identifier: Apache-2.0
// StepsMachine: a step workflow as the kernel steps it. A message becomes ticks; they, and the
// events that come of them, are reduced until none is left; what that asks for becomes effects,
// annotations or an end.
//
// Invariants: (1) nothing of what was reduced is anywhere but in the state that the step leaves;
// (2) what does not fit the budgets of a step waits in the state, and something is open that will
// go on with it; (3) the run ends after everything it published before.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/machine.h"
#include "steps/graph.h"

namespace holdfast::steps {

// The effect that runs a step: review of shop/Order@1 is shop/Order.review@1.
std::string effect_name(std::string_view workflow, std::string_view step);

class StepsMachine : public kernel::Machine {
 public:
  StepsMachine(Graph graph, std::string_view workflow);

  void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;
  bool write_whole(base::ByteView state, const kernel::StateParts& parts,
                   codec::Buffer& out) const override;

  // A run goes on with another graph that has all the steps and events that it still needs.
  bool migrate(const kernel::EarlierState& earlier, codec::Buffer& out,
               std::string& why) const override;
  const void* family() const noexcept override;

  const Graph& graph() const noexcept { return graph_; }
  const std::string& effect_of(StepIndex step) const { return effects_[step]; }

 private:
  Graph graph_;
  std::vector<std::string> effects_;
};

}  // namespace holdfast::steps
