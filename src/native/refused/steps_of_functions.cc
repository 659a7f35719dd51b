// SPDX-License-Identifier: Apache-2.0
// accepted: steps that are functions of all kinds
#include "native/refused/steps_types.h"

struct Part {
  static constexpr std::string_view kSchema = "shop/Part@1";
  std::uint64_t n = 0;
};

inline Question ask(const Part&, holdfast::StepContext&) noexcept { return {}; }

struct Flow : Base {
  static Part begin(const Begin&, holdfast::StepContext& context) {
    const auto answer = context.wait_for<Answer>(holdfast::WaitOptions{}.where("id", "boss"));
    return {answer.id.size()};
  }
  static auto steps() {
    return holdfast::StepsOf<Flow>()
        .step("begin", &Flow::begin)
        .step("ask", ask)
        .step("task",
              [](const Question&, holdfast::TaskContext& context) -> holdfast::StepTask<End> {
                const Answer answer = co_await context.wait_for<Answer>();
                co_return End{answer.id};
              })
        .on_error("help", [](const holdfast::StepFailed& failed, holdfast::StepContext&) {
          return End{failed.as<Part>() ? "a part" : "a list"};
        });
  }
};

const auto module = holdfast::Module::of<Flow>("shop/code@1");
