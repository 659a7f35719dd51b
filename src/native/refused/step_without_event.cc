// SPDX-License-Identifier: Apache-2.0
// refused: a step takes an event, and then its context
#include "native/refused/steps_types.h"

struct Flow : Base {
  End run(holdfast::StepContext&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
