// SPDX-License-Identifier: Apache-2.0
// A step workflow as somebody outside writes it: a draft is written at the second attempt, and a
// person has thirty days to decide.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "holdfast/steps.h"

struct Request {
  static constexpr std::string_view kSchema = "outside/Request@1";
  std::string id;
};
struct Decision {
  static constexpr std::string_view kSchema = "outside/Decision@1";
  std::string id;
  bool approved = false;
};
struct Question {
  static constexpr std::string_view kSchema = "outside/Question@1";
  std::string text;
};
struct Draft {
  static constexpr std::string_view kSchema = "outside/Draft@1";
  std::string text;
};
struct Outcome {
  static constexpr std::string_view kSchema = "outside/Outcome@1";
  std::string text;
};

struct Approval : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "outside/Approval@1";
  using Events =
      holdfast::Events<holdfast::On<Request, &Request::id>, holdfast::On<Decision, &Decision::id>>;
  using Stop = Outcome;
  using Asks = holdfast::Asks<Question>;

  Draft write(const Request& request, holdfast::StepContext& context) {
    if (context.attempt() == 1) throw holdfast::StepError("pen.empty", "no ink");
    return {"draft of " + request.id};
  }
  holdfast::StepTask<Outcome> decide(const Draft& draft, holdfast::TaskContext& context) {
    const Question question{"publish the " + draft.text + "?"};
    const holdfast::WaitOptions month{.timeout = std::chrono::hours(24 * 30)};
    auto answer = context.ask<Decision>(question, month);
    const Decision decision = co_await answer;
    co_return Outcome{decision.approved ? "published" : "thrown away"};
  }
  Outcome give_up(const holdfast::StepFailed& failed, holdfast::StepContext&) {
    return {"given up: " + failed.code};
  }

  static auto steps() {
    return holdfast::StepsOf<Approval>()
        .step("write", &Approval::write,
              {.retry = holdfast::Retry(holdfast::fixed(std::chrono::milliseconds(1)),
                                        holdfast::after_attempts(3))})
        .step("decide", &Approval::decide)
        .on_error("give_up", &Approval::give_up);
  }
};

// What the programs return where something is not as it should be.
inline int failed(std::string_view what) {
  return std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data()), 1;
}
