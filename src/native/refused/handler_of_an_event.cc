// SPDX-License-Identifier: Apache-2.0
// refused: an error handler takes a StepFailed
#include "native/refused/steps_types.h"

struct Flow : Base {
  End run(const Begin&, holdfast::StepContext&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().on_error("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
