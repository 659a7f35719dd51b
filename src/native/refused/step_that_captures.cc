// SPDX-License-Identifier: Apache-2.0
// refused: a step is a member function, a function, or a lambda that captures nothing
#include "native/refused/steps_types.h"

struct Flow : Base {
  static auto steps() {
    const std::string text = "x";
    return holdfast::StepsOf<Flow>().step(
        "run", [text](const Begin&, holdfast::StepContext&) { return End{text}; });
  }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
