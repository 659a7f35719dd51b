// SPDX-License-Identifier: Apache-2.0
// A loop in which a model chooses tools until it has an answer, and a person may stop it. The model
// here is a function that looks at what is known and always chooses the same; a real one would be
// called in its place. One tool fails now and then and is tried again.
//
//   agent begin trip Oslo Rome   looks things up, asks, and ends; killed before that, the same
//                                command goes on where it was
//   agent answer trip yes        the same run goes on in another process
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "show.h"

using namespace std::chrono_literals;

struct Goal {
  static constexpr std::string_view kSchema = "trips/Goal@1";
  std::string id;
  std::vector<std::string> towns;
};
struct Decision {
  static constexpr std::string_view kSchema = "trips/Decision@1";
  std::string id;
  bool yes = false;
};
struct Question {
  static constexpr std::string_view kSchema = "trips/Question@1";
  std::string text;
};
// What is known so far. It goes round the loop.
struct Fact {
  std::string about;
  std::int64_t value = 0;
};
struct Thought {
  static constexpr std::string_view kSchema = "trips/Thought@1";
  std::vector<std::string> towns;
  std::vector<Fact> facts;
};
struct ToolCall {
  static constexpr std::string_view kSchema = "trips/ToolCall@1";
  std::string tool;
  std::string argument;
  Thought thought;
};
struct Proposal {
  static constexpr std::string_view kSchema = "trips/Proposal@1";
  std::string town;
};
struct Outcome {
  static constexpr std::string_view kSchema = "trips/Outcome@1";
  std::string text;
};

using Choice = std::variant<ToolCall, Proposal>;

// Looks up what it does not know, then proposes the warmest.
Choice model(const Thought& thought) {
  for (const std::string& town : thought.towns) {
    bool is_known = false;
    for (const Fact& fact : thought.facts) is_known |= fact.about == town;
    if (!is_known) return ToolCall{"thermometer", town, thought};
  }
  Fact warmest = thought.facts.at(0);
  for (const Fact& fact : thought.facts) {
    if (fact.value > warmest.value) warmest = fact;
  }
  return Proposal{warmest.about};
}

struct Trip : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "trips/Trip@1";
  using Events =
      holdfast::Events<holdfast::On<Goal, &Goal::id>, holdfast::On<Decision, &Decision::id>>;
  using Stop = Outcome;
  using Asks = holdfast::Asks<Question>;

  Thought begin(const Goal& goal, holdfast::StepContext&) { return {goal.towns, {}}; }

  Choice think(const Thought& thought, holdfast::StepContext&) { return model(thought); }

  // Fails the first time, each time it is asked for something new.
  Thought use(const ToolCall& call, holdfast::StepContext& context) {
    std::this_thread::sleep_for(50ms);
    if (context.attempt() == 1) throw holdfast::StepError("tool.busy", call.tool + " is busy");
    Thought thought = call.thought;
    thought.facts.push_back({call.argument, degrees(call.argument)});
    std::printf("%s in %s: %lld, at attempt %llu\n", call.tool.c_str(), call.argument.c_str(),
                static_cast<long long>(thought.facts.back().value),
                static_cast<unsigned long long>(context.attempt()));
    std::fflush(stdout);
    return thought;
  }

  // A coroutine: it ends at the wait, and begins anew when somebody has answered.
  holdfast::StepTask<Outcome> propose(const Proposal& proposal, holdfast::TaskContext& context) {
    const auto question =
        context.ask<Decision>(Question{"go to " + proposal.town + "?"}, {.timeout = 720h});
    const Decision decision = co_await question;
    co_return Outcome{decision.yes ? "going to " + proposal.town : "staying at home"};
  }

  Outcome give_up(const holdfast::StepFailed& failed, holdfast::StepContext&) {
    return {"given up: " + failed.message};
  }

  static auto steps() {
    return holdfast::StepsOf<Trip>()
        .step("begin", &Trip::begin)
        .step("think", &Trip::think)
        .step("use", &Trip::use,
              {.retry = holdfast::Retry(holdfast::fixed(10ms), holdfast::after_attempts(3))})
        .step("propose", &Trip::propose)
        .on_error("give_up", &Trip::give_up);
  }

 private:
  static std::int64_t degrees(const std::string& town) {
    if (town.empty()) throw holdfast::StepError("tool.nonsense", "there is no such town");
    return static_cast<std::int64_t>(town.size()) * 3;
  }
};

int main(int argc, char** argv) {
  const auto said = examples::arguments(argc, argv, 3, 100);
  const bool begins = said && said->words[0] == "begin";
  const bool answers = said && said->words[0] == "answer" && said->words.size() == 3 &&
                       (said->words[2] == "yes" || said->words[2] == "no");
  if (!begins && !answers) {
    std::fprintf(stderr, "usage: agent begin ID TOWN... | answer ID yes|no [--any-file-system]\n");
    return 2;
  }
  const std::string& id = said->words[1];
  auto opened =
      holdfast::Engine::open({.dir = "agent.world",
                              .modules = {holdfast::Module::of<Trip>("trips/code@1")},
                              .handlers = holdfast::step_handlers(std::make_shared<Trip>()),
                              .any_file_system = said->any_file_system});
  if (!opened) return examples::failed(opened.error().message);
  holdfast::Engine& engine = **opened;
  const auto print = [](const holdfast::StepEntry& entry) {
    if (const auto question = entry.as<Question>())
      std::printf("asks: %s\n", question->text.c_str());
  };
  std::uint64_t after = 0;
  if (answers) {
    if (!examples::is_there<Trip>(engine, id)) return 1;
    after = examples::seen<Trip>(engine, id);
    const auto sent = engine.send(Decision{id, said->words[2] == "yes"});
    if (!sent) return examples::failed(sent.error().message);
  } else if (!engine.query<Trip>(id)) {
    const auto sent = engine.send(Goal{id, {said->words.begin() + 2, said->words.end()}});
    if (!sent) return examples::failed(sent.error().message);
  }
  return examples::show<Trip>(engine, id, after, print);
}
