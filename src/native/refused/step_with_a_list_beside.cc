// SPDX-License-Identifier: Apache-2.0
// refused: a step that takes several events together takes plain events
#include "native/refused/steps_types.h"

struct Flow : Base {
  End run(const Begin&, const std::vector<Answer>&, holdfast::StepContext&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
