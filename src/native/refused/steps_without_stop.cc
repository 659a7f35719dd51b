// SPDX-License-Identifier: Apache-2.0
// refused: a step workflow says which event ends a run: using Stop = ...
#include "native/refused/steps_types.h"

struct Flow : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "shop/Flow@1";
  using Events = holdfast::Events<holdfast::On<Begin, &Begin::id>>;
  End run(const Begin&, holdfast::StepContext&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
