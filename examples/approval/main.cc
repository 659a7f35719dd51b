// SPDX-License-Identifier: Apache-2.0
// A report is written, its parts are checked side by side, and a person approves it. The person may
// take a month, and the program may end at any time meanwhile:
//
//   approval begin report-1        writes, checks, asks, and ends
//   approval answer report-1 yes   the same run goes on in another process
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "show.h"

using namespace std::chrono_literals;

struct Request {
  static constexpr std::string_view kSchema = "reports/Request@1";
  std::string id;
};
struct Decision {
  static constexpr std::string_view kSchema = "reports/Decision@1";
  std::string id;
  bool approved = false;
};
struct Question {
  static constexpr std::string_view kSchema = "reports/Question@1";
  std::string text;
};
struct Part {
  static constexpr std::string_view kSchema = "reports/Part@1";
  std::string title;
};
struct Checked {
  static constexpr std::string_view kSchema = "reports/Checked@1";
  std::string title;
};
struct Report {
  static constexpr std::string_view kSchema = "reports/Report@1";
  std::uint64_t parts = 0;
};
struct Outcome {
  static constexpr std::string_view kSchema = "reports/Outcome@1";
  std::string text;
};

struct Approval : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "reports/Approval@1";
  using Events =
      holdfast::Events<holdfast::On<Request, &Request::id>, holdfast::On<Decision, &Decision::id>>;
  using Stop = Outcome;
  using Asks = holdfast::Asks<Question>;

  // A list fans out: one run of `check` for each part.
  std::vector<Part> write(const Request&, holdfast::StepContext&) {
    std::printf("writing\n");
    return {{"past"}, {"present"}, {"future"}};
  }
  Checked check(const Part& part, holdfast::StepContext& context) {
    if (part.title == "future" && context.attempt() == 1)
      throw holdfast::StepError("crystal.cloudy", "ask again later");
    std::printf("checked the %s\n", part.title.c_str());
    return {part.title};
  }
  // Gets all that was checked, once.
  Report join(const std::vector<Checked>& parts, holdfast::StepContext&) { return {parts.size()}; }
  // Runs twice: up to the question, and with the answer.
  Outcome approve(const Report& report, holdfast::StepContext& context) {
    const auto decision = context.ask<Decision>(
        Question{"publish " + std::to_string(report.parts) + " parts?"}, {.timeout = 720h});
    return {decision.approved ? "published" : "thrown away"};
  }
  Outcome give_up(const holdfast::StepFailed& failed, holdfast::StepContext&) {
    return {"given up: " + failed.message};
  }

  static auto steps() {
    return holdfast::StepsOf<Approval>()
        .step("write", &Approval::write)
        .step("check", &Approval::check,
              {.retry = holdfast::Retry(holdfast::exponential(10ms), holdfast::after_attempts(5))})
        .step("join", &Approval::join)
        .step("approve", &Approval::approve)
        .on_error("give_up", &Approval::give_up);
  }
};

int main(int argc, char** argv) {
  const auto said = examples::arguments(argc, argv, 2, 3);
  const bool begins = said && said->words[0] == "begin" && said->words.size() == 2;
  const bool answers = said && said->words[0] == "answer" && said->words.size() == 3 &&
                       (said->words[2] == "yes" || said->words[2] == "no");
  if (!begins && !answers) {
    std::fprintf(stderr, "usage: approval begin ID | answer ID yes|no [--any-file-system]\n");
    return 2;
  }
  const std::string& id = said->words[1];
  auto engine =
      holdfast::Engine::open({.dir = "approval.world",
                              .modules = {holdfast::Module::of<Approval>("reports/code@1")},
                              .handlers = holdfast::step_handlers(std::make_shared<Approval>()),
                              .any_file_system = said->any_file_system});
  if (!engine) return examples::failed(engine.error().message);
  const auto print = [](const holdfast::StepEntry& entry) {
    if (const auto question = entry.as<Question>())
      std::printf("asks: %s\n", question->text.c_str());
  };
  if (begins) {
    const auto sent = (*engine)->send(Request{id});
    if (!sent) return examples::failed(sent.error().message);
    return examples::show<Approval>(**engine, id, 0, print);
  }
  if (!examples::is_there<Approval>(**engine, id)) return 1;
  const std::uint64_t after = examples::seen<Approval>(**engine, id);
  const auto sent = (*engine)->send(Decision{id, said->words[2] == "yes"});
  if (!sent) return examples::failed(sent.error().message);
  return examples::show<Approval>(**engine, id, after, print);
}
