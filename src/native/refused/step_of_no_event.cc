// SPDX-License-Identifier: Apache-2.0
// refused: a step takes an event, a std::variant of events, or a std::vector of one
#include "native/refused/steps_types.h"

struct Flow : Base {
  End run(const int&, holdfast::StepContext&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
