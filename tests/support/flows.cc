// SPDX-License-Identifier: Apache-2.0
// Step workflows that do what the demo does not: one that is never answered and times out, one
// whose bodies wait at a gate, and two with different graphs and the same event, so that
// definitions may make the one run as the other. With the whole command line of Holdfast around
// them.
//
// A body of flows/Gate@1 goes on when the file that HOLDFAST_GATE names is there.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "holdfast/main.h"
#include "holdfast/steps.h"

namespace {

using namespace std::chrono_literals;

struct Begin {
  static constexpr std::string_view kSchema = "flows/Begin@1";
  std::string id;
};
struct Hurry {
  static constexpr std::string_view kSchema = "flows/Hurry@1";
  std::string id;
};
struct Answer {
  static constexpr std::string_view kSchema = "flows/Answer@1";
  std::string id;
};
struct Task {
  static constexpr std::string_view kSchema = "flows/Task@1";
  std::uint64_t number = 0;
};
struct Finished {
  static constexpr std::string_view kSchema = "flows/Finished@1";
  std::uint64_t number = 0;
};
struct Outcome {
  static constexpr std::string_view kSchema = "flows/Outcome@1";
  std::uint64_t count = 0;
};

struct Submitted {
  static constexpr std::string_view kSchema = "flows/Submitted@1";
  std::string id;
};
struct Read {
  static constexpr std::string_view kSchema = "flows/Read@1";
  std::uint64_t number = 0;
};

struct Tried {
  static constexpr std::string_view kSchema = "flows/Tried@1";
  std::string id;
};

struct Late : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Late@1";
  using Events =
      holdfast::Events<holdfast::On<Hurry, &Hurry::id>, holdfast::On<Answer, &Answer::id>>;
  using Stop = Outcome;

  Outcome ask(const Hurry&, holdfast::StepContext& context) {
    context.wait_for<Answer>();
    return {1};
  }
  static auto steps() { return holdfast::StepsOf<Late>().step("ask", &Late::ask).timeout(700ms); }
};

struct Gate : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Gate@1";
  using Events = holdfast::Events<holdfast::On<Begin, &Begin::id>>;
  using Stop = Outcome;

  std::vector<Task> split(const Begin&, holdfast::StepContext&) { return {{1}, {2}, {3}}; }
  Finished pass(const Task& task, holdfast::StepContext& context) {
    const char* const gate = std::getenv("HOLDFAST_GATE");
    while (gate != nullptr && ::access(gate, F_OK) != 0 && !context.stopped())
      std::this_thread::sleep_for(10ms);
    return {task.number};
  }
  Outcome count(const std::vector<Finished>& all, holdfast::StepContext&) { return {all.size()}; }
  static auto steps() {
    return holdfast::StepsOf<Gate>()
        .step("split", &Gate::split)
        .step("pass", &Gate::pass, {.workers = 1})
        .step("count", &Gate::count);
  }
};

struct Review : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Review@1";
  using Events = holdfast::Events<holdfast::On<Submitted, &Submitted::id>>;
  using Stop = Outcome;

  Read read(const Submitted&, holdfast::StepContext&) { return {1}; }
  Outcome judge(const Read& read, holdfast::StepContext&) { return {read.number}; }
  static auto steps() {
    return holdfast::StepsOf<Review>().step("read", &Review::read).step("judge", &Review::judge);
  }
};

struct ShortReview : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/ShortReview@1";
  using Events = holdfast::Events<holdfast::On<Submitted, &Submitted::id>>;
  using Stop = Outcome;

  Outcome skim(const Submitted&, holdfast::StepContext&) { return {2}; }
  static auto steps() { return holdfast::StepsOf<ShortReview>().step("skim", &ShortReview::skim); }
};

struct Quit {
  static constexpr std::string_view kSchema = "flows/Quit@1";
  std::string id;
};
struct Wait {
  static constexpr std::string_view kSchema = "flows/Wait@1";
  std::string id;
};

// Ends itself.
struct Quitter : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Quitter@1";
  using Events = holdfast::Events<holdfast::On<Quit, &Quit::id>>;
  using Stop = Outcome;

  std::optional<Outcome> quit(const Quit&, holdfast::StepContext& context) {
    context.cancel_run("enough");
    return std::nullopt;
  }
  static auto steps() { return holdfast::StepsOf<Quitter>().step("quit", &Quitter::quit); }
};

// Waits for good.
struct Patient : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Patient@1";
  using Events = holdfast::Events<holdfast::On<Wait, &Wait::id>, holdfast::On<Answer, &Answer::id>>;
  using Stop = Outcome;

  Outcome ask(const Wait&, holdfast::StepContext& context) {
    context.wait_for<Answer>();
    return {1};
  }
  static auto steps() { return holdfast::StepsOf<Patient>().step("ask", &Patient::ask); }
};

// Fails three times, each time with another message.
struct Stubborn : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Stubborn@1";
  using Events = holdfast::Events<holdfast::On<Tried, &Tried::id>>;
  using Stop = Outcome;

  Outcome persist(const Tried&, holdfast::StepContext& context) {
    throw holdfast::StepError("flows.busy", "busy at attempt " + std::to_string(context.attempt()));
  }
  static auto steps() {
    return holdfast::StepsOf<Stubborn>().step(
        "persist", &Stubborn::persist,
        {.retry = holdfast::Retry(holdfast::fixed(10ms), holdfast::after_attempts(3))});
  }
};

struct Doze {
  static constexpr std::string_view kSchema = "flows/Doze@1";
  std::string id;
};
struct Talk {
  static constexpr std::string_view kSchema = "flows/Talk@1";
  std::string id;
  std::string how;
};
struct Piece {
  static constexpr std::string_view kSchema = "flows/Piece@1";
  std::string text;
};

// Takes too long, twice.
struct Sleeper : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Sleeper@1";
  using Events = holdfast::Events<holdfast::On<Doze, &Doze::id>>;
  using Stop = Outcome;

  Outcome sleep(const Doze&, holdfast::StepContext& context) {
    while (!context.stopped()) std::this_thread::sleep_for(5ms);
    return {1};
  }
  static auto steps() {
    return holdfast::StepsOf<Sleeper>().step(
        "sleep", &Sleeper::sleep,
        {.retry = holdfast::Retry(holdfast::fixed(10ms), holdfast::after_attempts(2)),
         .timeout = 200ms});
  }
};

// Publishes: pieces after a failed attempt, a piece before a wait, a text that is not UTF-8.
struct Talker : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "flows/Talker@1";
  using Events = holdfast::Events<holdfast::On<Talk, &Talk::id>, holdfast::On<Answer, &Answer::id>>;
  using Stop = Outcome;
  using Publishes = holdfast::Publishes<Piece>;

  Outcome talk(const Talk& talk, holdfast::StepContext& context) {
    if (talk.how == "bad") context.publish(Piece{"\xff"});
    if (talk.how == "much" && context.attempt() == 1)
      throw holdfast::StepError("flows.hoarse", "no voice yet");
    const std::uint64_t count = talk.how == "much" ? 200 : 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      context.publish(Piece{std::to_string(i)});
      if (count != 1) std::this_thread::sleep_for(3ms);
    }
    context.wait_for<Answer>();
    return {count};
  }
  static auto steps() {
    return holdfast::StepsOf<Talker>().step(
        "talk", &Talker::talk,
        {.retry = holdfast::Retry(holdfast::fixed(10ms), holdfast::after_attempts(2))});
  }
};

template <class... Workflows>
std::vector<holdfast::Handler> handlers_of() {
  std::vector<holdfast::Handler> all;
  const auto add = [&all](std::vector<holdfast::Handler> some) {
    for (holdfast::Handler& handler : some) all.push_back(std::move(handler));
  };
  (add(holdfast::step_handlers(std::make_shared<Workflows>())), ...);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return holdfast::main(
      argc, argv,
      {.modules = {holdfast::Module::of<Late, Gate, Review, ShortReview, Stubborn, Quitter, Patient,
                                        Sleeper, Talker>("flows/code@1")},
       .handlers = handlers_of<Late, Gate, Review, ShortReview, Stubborn, Quitter, Patient, Sleeper,
                               Talker>()});
}
