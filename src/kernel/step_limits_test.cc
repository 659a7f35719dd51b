// SPDX-License-Identifier: Apache-2.0
// Design: "A tick, in order", 3 to 7: what a step must not do, and how much it may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::emit;
using ::testing::HasSubstr;
using testing::json_of;
using testing::kToKeyed;
using testing::kToSingle;
using testing::LabTest;
using testing::number;
using testing::open;
using testing::opened;
using testing::state;
using testing::Step;

class StepLimitsTest : public LabTest {};

// What a step must not do: the code of the failure.
struct Misdeed {
  const char* code;
  Step step;
};

void many(StepOutput& output, int effects, int events) {
  for (int i = 0; i < effects; ++i) open(output, "lab/work@1", R"({"a":1})");
  for (int i = 0; i < events; ++i) emit(output, "lab/Unheard@1", "{}");
}

TEST_F(StepLimitsTest,
       exceeding_a_budget_or_a_rule_fails_the_instance_and_keeps_nothing_of_the_step) {
  const auto with = [](void (*rest)(StepOutput&)) {
    return [rest](const StepInput&, StepOutput& output) {
      state(output, 99);
      emit(output, "lab/Unheard@1", "{}");
      open(output, "lab/work@1", R"({"a":1})");
      rest(output);
    };
  };
  const Misdeed misdeeds[] = {
      {"step.too_many_effects", with([](StepOutput& out) { many(out, 64, 0); })},
      {"step.too_many_events", with([](StepOutput& out) { many(out, 0, 256); })},
      {"step.too_many_annotations", with([](StepOutput& out) {
         for (std::size_t i = 0; i <= kMaxAnnotationsPerStep; ++i) {
           out.begin_annotation();
           testing::write(out.bytes(), R"({"note":"x"})");
         }
       })},
      {"step.output_too_large", with([](StepOutput& out) {
         for (int i = 0; i < 2; ++i) {
           out.begin_annotation();
           testing::write(out.bytes(),
                          R"({"note":")" + std::string(std::size_t{1} << 19, 'x') + "\"}");
         }
       })},
      {"step.output_too_large", with([](StepOutput& out) {
         open(out, "lab/work@1",
              R"({"a":1,"b":")" + std::string(std::size_t{1} << 20, 'x') + "\"}");
       })},
      {"step.undeclared_effect",
       with([](StepOutput& out) { open(out, "lab/other@1", R"({"a":1})"); })},
      {"step.undeclared_effect",
       with([](StepOutput& out) { open(out, "lab/nothing@1", R"({"a":1})"); })},
      {"step.bad_params", with([](StepOutput& out) { open(out, "lab/work@1", R"({"a":"x"})"); })},
      {"step.bad_state", with([](StepOutput& out) {
         out.begin_state();
         testing::write(out.bytes(), R"({"m":1})");
       })},
      {"step.bad_event", with([](StepOutput& out) { emit(out, "lab/Go@1", R"({"id":"a"})"); })},
      {"step.unknown_event", with([](StepOutput& out) { emit(out, "lab/Nothing@1", "{}"); })},
      {"step.undeliverable_event", with([](StepOutput& out) {
         emit(out, "lab/Go@1", R"({"n":1,"id":")" + std::string(2000, 'k') + "\"}");
       })},
      {"step.bad_annotations", with([](StepOutput& out) {
         out.begin_annotation();
         testing::write(out.bytes(), "5");
       })},
      {"step.bad_reference",
       with([](StepOutput& out) { open(out, "lab/work@1", R"({"a":1})", "", "\xff"); })},
      {"step.effects_at_end", with([](StepOutput& out) { testing::complete(out, "1"); })},
      {"step.effects_at_end", with([](StepOutput& out) { out.remove(); })},
      {"step.no_state", [](const StepInput&, StepOutput&) {}},
      {"step.bad_result", [](const StepInput&, StepOutput& out) { out.begin_result(); }},
  };
  begin(kToKeyed);
  for (const Misdeed& misdeed : misdeeds) {
    const std::string id = std::to_string(&misdeed - misdeeds);
    keyed_ = testing::keep;
    send(id, 5);
    keyed_ = misdeed.step;
    const Outcome outcome = send(id, 6);
    EXPECT_EQ(keyed(id)->status(), Status::kFailed) << misdeed.code;
    EXPECT_EQ(error_of(keyed(id)), misdeed.code);
    EXPECT_EQ(json_of(keyed(id)->state), R"({"n":5})") << misdeed.code;
    EXPECT_TRUE(outcome.commands.empty()) << misdeed.code;
    EXPECT_THAT(json_of(outcome.record), ::testing::Not(::testing::HasSubstr("Unheard")));
  }
  EXPECT_EQ(bench().world().open_intents(), 0u);
}

TEST_F(StepLimitsTest, the_budgets_themselves_are_allowed) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    many(output, 64, 256);
  };
  EXPECT_EQ(opened(send("a", 1)).size(), 64u);
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
}

TEST_F(StepLimitsTest, what_a_step_drops_or_replaces_does_not_count_for_its_budget) {
  constexpr std::size_t kMuch = 700'000;
  const std::string much = R"({"a":1,"b":")" + std::string(kMuch, 'x') + "\"}";
  const std::pair<const char*, Step> steps[] = {
      {"effects",
       [&](const StepInput&, StepOutput& output) {
         for (int i = 0; i < 3; ++i) open(output, "lab/work@1", much);
         output.drop_effects();
         testing::complete(output, "1");
       }},
      {"state",
       [&](const StepInput&, StepOutput& output) {
         for (int i = 0; i < 3; ++i) {
           output.begin_state();
           testing::write(output.bytes(), much);
         }
         state(output, 1);
       }},
      {"result",
       [&](const StepInput&, StepOutput& output) {
         state(output, 1);
         for (int i = 0; i < 3; ++i) testing::complete(output, much);
       }},
  };
  begin(kToKeyed);
  for (const auto& [what, step] : steps) {
    keyed_ = step;
    send(what, 1);
    EXPECT_NE(keyed(what)->status(), Status::kFailed) << what << error_of(keyed(what));
  }
  keyed_ = [&](const StepInput&, StepOutput& output) {
    state(output, 1);
    for (int i = 0; i < 3; ++i) open(output, "lab/work@1", much);
  };
  send("kept", 1);
  EXPECT_EQ(error_of(keyed("kept")), "step.output_too_large");
}

TEST_F(StepLimitsTest, annotations_that_are_not_declared_fail_the_instance) {
  begin(kToSingle);
  single_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    output.begin_annotation();
    testing::write(output.bytes(), R"({"note":"x"})");
  };
  send("a", 1);
  EXPECT_EQ(error_of(bench().find("lab/Single@1", "")), "step.undeclared_annotations");
}

TEST_F(StepLimitsTest, an_instance_may_not_have_more_than_16384_effects_open) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    many(output, 64, 0);
  };
  for (std::size_t i = 0; i < kMaxOpenIntents / 64; ++i) send("a", 1);
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  const Outcome outcome = send("a", 1);
  EXPECT_EQ(error_of(keyed("a")), "step.too_many_open");
  EXPECT_EQ(outcome.commands.size(), kMaxOpenIntents) << "each is asked to stop";
  EXPECT_EQ(bench().world().open_intents(), 0u);
}

TEST_F(StepLimitsTest, an_effect_counts_as_open_until_its_answer_is_heard) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    many(output, 64, 0);
  };
  std::vector<base::Hash> intents;
  for (std::size_t i = 0; i < kMaxOpenIntents / 64; ++i) {
    for (const base::Hash& intent : opened(send("a", 1))) intents.push_back(intent);
  }
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  for (std::size_t i = 0; i < 65; ++i) bench().receipt(intents[i], R"({"ok":true})");
  EXPECT_EQ(keyed("a")->mail.size(), 65u);
  bench().control(Control::kResume, "lab/Keyed@1", R"("a")");
  EXPECT_EQ(error_of(keyed("a")), "step.too_many_open") << "64 waited when it asked for 64 more";
}

TEST_F(StepLimitsTest, the_budget_of_output_holds_for_its_canonical_form) {
  constexpr std::size_t kMany = 200'000;  // maps: a byte each, nine with the absent option
  std::string definitions = testing::lab(kToKeyed);
  const std::string type = R"("lab/State@1","type":)";
  const std::string before = type + R"({"record":{"n":{"nat":{}}}})";
  definitions.replace(definitions.find(before), before.size(),
                      type + R"({"list":{"record":{"option":{"option":{"nat":{}}}}}})");
  bench_.emplace(definitions, machines_);
  keyed_ = [](const StepInput&, StepOutput& output) {
    output.begin_state();
    codec::write_list_head(output.bytes(), kMany);
    for (std::size_t i = 0; i < kMany; ++i) codec::write_map_head(output.bytes(), 0);
  };
  send("a", 1);
  EXPECT_EQ(error_of(keyed("a")), "step.output_too_large");
}

TEST_F(StepLimitsTest, what_a_failure_says_is_cut_and_made_utf8) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (number(input) == 1) return output.fail("bad", "bad \xff byte");
    output.fail("long", std::string(kMaxReasonBytes + 1, 'x'));
  };
  send("a", 1);
  EXPECT_THAT(json_of(keyed("a")->outcome), HasSubstr(R"("message":"bad ? byte")"));
  send("b", 2);
  EXPECT_THAT(json_of(keyed("b")->outcome),
              HasSubstr(R"("message":")" + std::string(kMaxReasonBytes, 'x') + R"(")"));
  bench().expect_replays();
}

TEST_F(StepLimitsTest,
       what_the_delivery_budget_leaves_stays_queued_and_goes_on_in_a_continue_tick) {
  begin(kToKeyed);
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    state(output, number(input) + 1);
    emit(output, "lab/Go@1", go("a", number(input) + 1));  // for ever
  };
  Outcome outcome = send("a", 0);
  ASSERT_EQ(outcome.commands.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<ContinueSoon>(outcome.commands[0]));
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":1024})");
  bench().put_away();
  outcome = bench().tick(Continue{});
  EXPECT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":2048})");
  bench().expect_replays();
}

TEST_F(StepLimitsTest,
       what_the_steps_of_a_tick_put_out_together_has_a_budget_and_the_rest_goes_on_later) {
  begin(kToKeyed);
  const std::string large(1'000'000, 'x');
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    const std::uint64_t n = number(input);
    state(output, n);
    output.begin_annotation();
    testing::write(output.bytes(), R"({"note":")" + large + R"("})");
    if (n > 0) emit(output, "lab/Go@1", go("a", n - 1));
  };
  Outcome outcome = send("a", 20);
  std::size_t ticks = 1;
  for (; !outcome.commands.empty(); ++ticks) {
    EXPECT_LE(outcome.record.size(), kMaxTickOutputBytes + kMaxStepOutputBytes + 10'000);
    outcome = bench().tick(Continue{});
  }
  EXPECT_EQ(ticks, 3u) << "nine, nine and three steps";
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":0})");
  bench().expect_replays();
}

TEST_F(StepLimitsTest, a_continue_tick_with_nothing_left_is_refused) {
  EXPECT_TRUE(std::holds_alternative<Refused>(bench().tick(Continue{}).answer));
}

}  // namespace
}  // namespace holdfast::kernel
