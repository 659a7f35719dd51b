// SPDX-License-Identifier: Apache-2.0
// refused: the last parameter of a step is a StepContext&
#include "native/refused/steps_types.h"

struct Flow : Base {
  End run(const Begin&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
