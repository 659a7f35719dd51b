// SPDX-License-Identifier: Apache-2.0
// The random ticks of the property tests and of the fuzz target reach what they are there for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernel/testing_play.h"
#include "kernel/testing_teller.h"

namespace holdfast::kernel {
namespace {

using testing::Choice;
using testing::Input;
using testing::Play;
using testing::ScriptMachines;
using testing::Teller;

// The same numbers on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return bound == 0 ? 0 : static_cast<std::size_t>(state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

std::string first_words(const std::string& text) {
  return text.substr(0, std::min(text.find_first_of(",\n"), text.find_first_of("0123456789")));
}

std::set<std::string> reached_by(std::uint64_t seed) {
  constexpr const char* kKinds[] = {"event",   "receipt",        "progress", "continue",
                                    "control", "apply",          "propose",  "shadow",
                                    "decide",  "apply proposal", "forget"};
  const ScriptMachines machines;
  std::set<std::string> reached;
  Play play(machines);
  Numbers numbers(seed);
  const Choice choice = [&](std::size_t bound) { return numbers.below(bound); };
  const auto send = [&](const Input& input) {
    const testing::Rules rules = play.model().rules();
    ASSERT_EQ(play.send(input), "") << "seed " << seed;
    const std::string answer = play.told().answer;
    reached.insert(std::string(kKinds[static_cast<std::size_t>(input.kind)]) + " " +
                   first_words(answer));
    if (answer.ends_with("unrouted")) reached.insert("unrouted");
    if (rules != play.model().rules()) reached.insert("another manifest");
    if (play.model().running_for_others() > 1) reached.insert("children");
    if (play.model().given_up() != 0) reached.insert("a child that is given up");
    for (const std::string& command : play.told().commands) reached.insert(first_words(command));
    for (const auto& [name, standing] : play.model().instances()) {
      reached.insert(first_words(standing));
      if (standing.find("paused") != std::string::npos) reached.insert("paused");
      reached.insert(standing.substr(std::min(standing.size(), standing.rfind(' ') + 1)));
    }
  };
  Input first;
  first.kind = Input::Kind::kApply;
  send(first);
  for (int i = 0; i < 100 && !::testing::Test::HasFatalFailure(); ++i) {
    for (const Input& input : Teller(play.model(), choice).tell()) send(input);
  }
  return reached;
}

TEST(Stories, reach_every_answer_and_every_end) {
  std::set<std::string> reached;
  for (std::uint64_t seed = 0; seed < 300; ++seed) reached.merge(reached_by(seed));
  for (const char* what : {"event accepted ",
                           "event repeated ",
                           "event refused invalid",
                           "event refused not_found",
                           "event refused too_large",
                           "event refused conflict",
                           "event refused unavailable",
                           "receipt accepted ",
                           "receipt repeated ",
                           "receipt refused not_found",
                           "receipt refused invalid",
                           "receipt refused unavailable",
                           "progress accepted ",
                           "progress repeated ",
                           "progress refused invalid",
                           "progress refused not_found",
                           "progress refused unavailable",
                           "continue accepted ",
                           "continue refused conflict",
                           "control accepted ",
                           "control refused not_found",
                           "control refused conflict",
                           "control refused invalid",
                           "apply accepted ",
                           "apply blocked",
                           "apply refused invalid",
                           "propose accepted ",
                           "propose refused invalid",
                           "shadow accepted ",
                           "shadow refused not_found",
                           "shadow refused conflict",
                           "shadow refused invalid",
                           "decide accepted ",
                           "decide refused not_found",
                           "decide refused conflict",
                           "decide refused invalid",
                           "apply proposal accepted ",
                           "apply proposal blocked",
                           "apply proposal refused conflict",
                           "apply proposal refused not_found",
                           "unrouted",
                           "another manifest",
                           "children",
                           "a child that is given up",
                           "open t/a@",
                           "stop ",
                           "continue",
                           "running",
                           "waiting",
                           "completed",
                           "failed",
                           "cancelled",
                           "paused",
                           "done",
                           "script.failed",
                           "receipt.invalid_payload",
                           "step.too_many_effects",
                           "step.too_many_events",
                           "step.too_many_annotations",
                           "forget accepted ",
                           "forget refused invalid",
                           "step.output_too_large",
                           "step.effects_at_end",
                           "step.no_state",
                           "step.bad_state",
                           "step.undeclared_annotations",
                           "step.bad_result",
                           "step.undeclared_effect",
                           "step.bad_reference",
                           "step.bad_params",
                           "step.unknown_event",
                           "step.bad_event",
                           "step.undeliverable_event"}) {
    EXPECT_THAT(reached, ::testing::Contains(what));
  }
}

}  // namespace
}  // namespace holdfast::kernel
