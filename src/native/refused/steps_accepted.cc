// SPDX-License-Identifier: Apache-2.0
// accepted: steps as they should be
#include "native/refused/steps_types.h"

struct Flow : Base {
  holdfast::StepTask<End> run(const Begin&, const Answer&, holdfast::TaskContext& context) {
    const auto question =
        context.ask<Answer>(Question{"well?"}, {.timeout = std::chrono::hours(1)});
    const Answer answer = co_await question;
    const Answer other = co_await context.wait_for<Answer>(std::chrono::hours(1));
    co_return End{answer.id + other.id};
  }
  static auto steps() { return holdfast::StepsOf<Flow>().step("run", &Flow::run); }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
