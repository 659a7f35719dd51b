// SPDX-License-Identifier: Apache-2.0
// refused: a step awaits waits of its TaskContext and other StepTasks, and nothing else
#include "native/refused/steps_types.h"

struct Flow : Base {
  holdfast::StepTask<End> run(const Begin&, holdfast::TaskContext&) {
    co_await std::suspend_always();
    co_return End{};
  }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
