// SPDX-License-Identifier: Apache-2.0
// refused: a step that is a coroutine returns a StepTask and takes a TaskContext&
#include "native/refused/steps_types.h"

struct Flow : Base {
  End run(const Begin&, holdfast::TaskContext&) { return {}; }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
