// SPDX-License-Identifier: Apache-2.0
// Design: "A tick, in order", 3 to 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "defs/builtin.h"
#include "kernel/identity.h"
#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
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

class StepTest : public LabTest {};

TEST_F(StepTest, a_missing_instance_is_stepped_with_no_state_and_then_with_its_state) {
  std::vector<std::string> states;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    states.push_back(input.state ? json_of(*input.state) : "none");
    testing::keep(input, output);
  };
  send("a", 4);
  send("a", 5);
  EXPECT_THAT(states, ElementsAre("none", R"({"n":4})"));
}

TEST_F(StepTest, ready_instances_take_turns_one_message_each_in_the_order_of_arrival) {
  // The first event makes a send three to b and two to c; each says who it is and what it got.
  std::vector<std::string> order;
  begin(kToKeyed);
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    order.push_back(json_of(input.context.key()) + std::to_string(number(input)));
    state(output, 0);
    if (number(input) != 0) return;
    for (const auto& [to, n] : {std::pair("b", 1), {"b", 2}, {"b", 3}, {"c", 4}, {"c", 5}})
      emit(output, "lab/Go@1", go(to, static_cast<std::uint64_t>(n)));
  };
  send("a", 0);
  EXPECT_THAT(order, ElementsAre(R"("a"0)", R"("b"1)", R"("c"4)", R"("b"2)", R"("c"5)", R"("b"3)"));
  bench().expect_replays();
}

TEST_F(StepTest, instances_that_end_leave_the_line_and_the_others_keep_their_order) {
  std::vector<std::string> order;
  begin(kToKeyed + std::string(",") + testing::kStopToKeyed);
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    const std::string key = json_of(input.context.key());
    order.push_back(key + (input.mail.schema == "lab/Stop@1" ? "!" : ""));
    if (input.mail.schema == "lab/Stop@1") return testing::complete(output, "1");
    state(output, 0);
    if (key != R"("a")") return;
    // b and d end with their first message; one message more waits for each.
    for (const char* id : {"b", "c", "d", "e"}) {
      if (id[0] == 'b' || id[0] == 'd')
        emit(output, "lab/Stop@1", R"({"id":")" + std::string(id) + "\"}");
      emit(output, "lab/Go@1", go(id, 1));
    }
    emit(output, "lab/Go@1", go("c", 1));
  };
  send("a", 0);
  EXPECT_THAT(order, ElementsAre(R"("a")", R"("b"!)", R"("c")", R"("d"!)", R"("e")", R"("c")"));
  EXPECT_FALSE(bench().world().has_ready());
  bench().expect_replays();
}

TEST_F(StepTest, the_context_says_time_record_manifest_workflow_key_and_whether_it_is_keyed) {
  bool looked = false;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    const Context& context = input.context;
    EXPECT_EQ(context.time_ns(), 2'000'000'000u);
    EXPECT_EQ(context.record(), 2u);
    EXPECT_EQ(context.manifest_hash(), bench().world().program().manifest_hash());
    EXPECT_EQ(context.workflow(), "lab/Keyed@1");
    EXPECT_EQ(context.workflow_hash(), bench().world().program().workflow(0).hash);
    EXPECT_EQ(json_of(context.key()), R"("a")");
    EXPECT_TRUE(context.is_keyed());
    looked = true;
    testing::keep(input, output);
  };
  single_ = [&](const StepInput& input, StepOutput& output) {
    EXPECT_FALSE(input.context.is_keyed());
    EXPECT_TRUE(input.context.key().empty());
    testing::keep(input, output);
  };
  send("a", 1);
  EXPECT_TRUE(looked);
}

// The definitions of the lab in which a workflow declares its context.
std::string with_context(std::string_view workflow, std::string_view context) {
  std::string definitions = testing::lab(std::string(kToKeyed) + "," + kToSingle);
  const std::string name = R"("defworkflow","name":")" + std::string(workflow) + "\"";
  return definitions.replace(definitions.find(name), name.size(),
                             name + R"(,"context":")" + std::string(context) + "\"");
}

TEST_F(StepTest, the_context_is_a_value_if_it_is_declared) {
  for (const char* declares : {"lab/Keyed@1", "lab/Single@1"}) {
    std::string written;
    int without = 0;
    const auto look = [&](const StepInput& input, StepOutput& output) {
      testing::keep(input, output);
      codec::Buffer out;
      if (!input.context.write_context(input.mail, out)) {
        EXPECT_TRUE(out.view().empty());
        ++without;
        return;
      }
      const defs::Catalogue builtin = defs::builtin_catalogue();
      codec::Errors errors;
      const auto schema = codec::Schema::compile(*builtin.find("sys/WorkflowContext@1"), builtin,
                                                 "context", errors);
      codec::Normaliser normaliser;
      const auto made = normaliser.from_cbor(*schema, out.view(), codec::Strictness::kLenient);
      ASSERT_TRUE(made) << made.error().to_string();
      written = json_of(out.view());
      EXPECT_EQ(json_of(*made), written) << "it is canonical";
      EXPECT_THAT(written, ::testing::HasSubstr(input.context.manifest_hash().to_text()));
      EXPECT_THAT(written, ::testing::HasSubstr(input.context.workflow_hash().to_text()));
      codec::Buffer event;
      input.context.write_event(input.mail, event);
      EXPECT_THAT(written,
                  ::testing::HasSubstr(R"("event_hash":")" + value_hash(event.view()).to_text()));
    };
    keyed_ = single_ = look;
    bench_.emplace(with_context(declares, "sys/WorkflowContext@1"), machines_);
    send("a", 1);
    const bool is_keyed = std::string_view(declares) == "lab/Keyed@1";
    EXPECT_EQ(without, 1) << "the other one declares none";
    EXPECT_THAT(written, ::testing::HasSubstr(R"("workflow":")" + std::string(declares)));
    EXPECT_THAT(written, ::testing::HasSubstr(is_keyed ? R"("key":{"$bytes":"2dn3YWE="})"
                                                       : R"("key":null)"));
    EXPECT_THAT(written,
                ::testing::HasSubstr(is_keyed ? R"("cell_mode":true)" : R"("cell_mode":false)"));
    EXPECT_THAT(written, ::testing::HasSubstr(R"("now_ns":2000000000,)"));
    EXPECT_THAT(written, ::testing::HasSubstr(R"("journal_height":2,)"));
    bench().expect_replays();
  }
}

TEST_F(StepTest, a_context_of_another_type_is_refused) {
  const Outcome outcome = bench().apply(with_context("lab/Keyed@1", "lab/State@1"));
  const auto& refusal = std::get<Refused>(outcome.answer);
  EXPECT_EQ(refusal.code, base::ErrorCode::kInvalid);
  ASSERT_EQ(refusal.details.size(), 1u);
  EXPECT_THAT(refusal.details[0], ::testing::HasSubstr("its context is 'lab/State@1'"));
}

TEST_F(StepTest, logical_time_does_not_go_back_with_the_clock) {
  begin(kToKeyed);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    seen.emplace_back(input.context.time_ns(), input.context.logical_ns());
    testing::keep(input, output);
  };
  const base::Bytes event = testing::value(go("a", 1));
  Tick tick;
  tick.input = EventArrived{"lab/Go@1", event, ""};
  for (const std::uint64_t now : {9u, 5u, 7u, 12u}) {
    tick.time_ns = now * 1'000'000'000;
    ASSERT_FALSE(bench().world().reduce(tick).record.empty());
    bench().put_away();
  }
  for (auto& [time, logical] : seen) {
    time /= 1'000'000'000;
    logical /= 1'000'000'000;
  }
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{
      {9, 9}, {5, 9}, {7, 9}, {12, 12}};
  EXPECT_EQ(seen, expected);
}

TEST_F(StepTest, time_and_entropy_of_emitted_events_are_derived_from_tick_and_position) {
  std::vector<std::pair<std::uint64_t, base::Hash>> seen;
  begin(kToKeyed);
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    seen.emplace_back(input.context.time_ns(), input.context.entropy());
    state(output, 0);
    if (number(input) < 3) emit(output, "lab/Go@1", go("a", number(input) + 1));
  };
  send("a", 0);
  ASSERT_EQ(seen.size(), 4u);
  std::set<base::Hash> different;
  for (const auto& [time, entropy] : seen) {
    EXPECT_EQ(time, 2'000'000'000u);
    different.insert(entropy);
  }
  EXPECT_EQ(different.size(), 4u);
  const auto live = std::exchange(seen, {});
  bench().replayed();
  EXPECT_EQ(seen, live);
}

TEST_F(StepTest, a_step_gives_state_events_effects_annotations_and_a_result) {
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    if (number(input) == 2) return testing::complete(output, R"({"sum":2})");
    state(output, 9);
    output.begin_annotation();
    testing::write(output.bytes(), R"({"note":"hello"})");
    output.begin_annotation();
    testing::write(output.bytes(), R"({"note":"again"})");
    open(output, "lab/work@1", R"({"a":1})");
    emit(output, "lab/Unheard@1", "{}");
  };
  const Outcome outcome = send("a", 1);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":9})");
  EXPECT_EQ(opened(outcome).size(), 1u);
  const std::string record = json_of(outcome.record);
  EXPECT_THAT(record, ::testing::HasSubstr(R"([{"note":"hello"},{"note":"again"}])"));
  ASSERT_EQ(outcome.said.size(), 1u);
  EXPECT_EQ(outcome.said[0].workflow, "lab/Keyed@1");
  EXPECT_THAT(record, ::testing::HasSubstr(R"([["lab/Unheard@1",{}]])"));
  EXPECT_TRUE(send("a", 2).said.empty());
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
  EXPECT_EQ(json_of(keyed("a")->outcome), R"({"sum":2})");
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":9})") << "a result does not take the state away";
  bench().expect_replays();
}

TEST_F(StepTest, a_step_may_fail_its_instance_with_an_error_of_its_own) {
  keyed_ = [&](const StepInput&, StepOutput& output) {
    emit(output, "lab/Unheard@1", "{}");
    output.fail("card.declined", "no money\xff");
  };
  const Outcome outcome = send("a", 1);
  EXPECT_EQ(keyed("a")->status(), Status::kFailed);
  EXPECT_EQ(json_of(keyed("a")->outcome),
            R"({"code":"card.declined","details":null,"message":"no money?","retryable":false})");
  EXPECT_THAT(json_of(outcome.record), ::testing::HasSubstr(R"([["lab/Unheard@1",{}]])"));
  bench().expect_replays();
}

// What a step must not do: the code of the failure.
struct Misdeed {
  const char* code;
  Step step;
};

void many(StepOutput& output, int effects, int events) {
  for (int i = 0; i < effects; ++i) open(output, "lab/work@1", R"({"a":1})");
  for (int i = 0; i < events; ++i) emit(output, "lab/Unheard@1", "{}");
}

TEST_F(StepTest, exceeding_a_budget_or_a_rule_fails_the_instance_and_keeps_nothing_of_the_step) {
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

TEST_F(StepTest, the_budgets_themselves_are_allowed) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    many(output, 64, 256);
  };
  EXPECT_EQ(opened(send("a", 1)).size(), 64u);
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
}

TEST_F(StepTest, what_a_step_drops_or_replaces_does_not_count_for_its_budget) {
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

TEST_F(StepTest, a_step_that_gives_up_ends_the_world_and_is_not_recorded) {
  begin(kToKeyed);
  bool has_memory = true;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    testing::keep(input, output);
    if (!has_memory) output.give_up();
  };
  send("a", 1);
  has_memory = false;
  const Outcome outcome = send("a", 2);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(outcome.failure->to_string(),
            R"(record 3: lab/Keyed@1 "a" cannot be stepped: it gave up for want of memory)");
  EXPECT_TRUE(outcome.record.empty());
  // Where there is memory, the same record replays to its end; where there is none, replay says so.
  World again(machines_, bench().blobs());
  ASSERT_TRUE(again.replay(bench().journal()[0]));
  EXPECT_EQ(again.replay(bench().journal()[1]).error().code(), base::ErrorCode::kUnavailable);
}

TEST_F(StepTest, annotations_that_are_not_declared_fail_the_instance) {
  begin(kToSingle);
  single_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    output.begin_annotation();
    testing::write(output.bytes(), R"({"note":"x"})");
  };
  send("a", 1);
  EXPECT_EQ(error_of(bench().find("lab/Single@1", "")), "step.undeclared_annotations");
}

TEST_F(StepTest, an_instance_may_not_have_more_than_16384_effects_open) {
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

TEST_F(StepTest, an_effect_counts_as_open_until_its_answer_is_heard) {
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

TEST_F(StepTest, the_budget_of_output_holds_for_its_canonical_form) {
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

TEST_F(StepTest, what_a_failure_says_is_cut_and_made_utf8) {
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

TEST_F(StepTest, what_the_delivery_budget_leaves_stays_queued_and_goes_on_in_a_continue_tick) {
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

TEST_F(StepTest,
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

TEST_F(StepTest, a_continue_tick_with_nothing_left_is_refused) {
  EXPECT_TRUE(std::holds_alternative<Refused>(bench().tick(Continue{}).answer));
}

TEST_F(StepTest, params_become_canonical_and_equal_params_written_differently_give_the_same_bytes) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    open(output, "lab/work@1", R"({"a":1})");
    output.begin_effect("lab/work@1");  // the other order, and an absent option written out
    codec::write_map_head(output.bytes(), 2);
    codec::write_text(output.bytes(), "b");
    codec::write_null(output.bytes());
    codec::write_text(output.bytes(), "a");
    codec::write_nat(output.bytes(), 1);
  };
  const Outcome outcome = send("a", 1);
  ASSERT_EQ(outcome.commands.size(), 2u);
  EXPECT_EQ(json_of(std::get<OpenIntent>(outcome.commands[0]).params), R"({"a":1,"b":null})");
  EXPECT_TRUE(base::equal(std::get<OpenIntent>(outcome.commands[0]).params,
                          std::get<OpenIntent>(outcome.commands[1]).params));
}

TEST_F(StepTest, a_command_says_who_asks_whom_for_what) {
  begin(kToKeyed);
  keyed_ = testing::work;
  const Outcome outcome = send("a", 1);
  const auto& command = std::get<OpenIntent>(outcome.commands.at(0));
  EXPECT_EQ(command.effect->name, "lab/work@1");
  EXPECT_EQ(command.effect->executor.kind, "worker");
  EXPECT_EQ(command.effect->executor.queue, "lab");
  EXPECT_EQ(command.workflow, "lab/Keyed@1");
  EXPECT_EQ(json_of(command.key), R"("a")");
  EXPECT_EQ(command.opened_ns, bench_->now_ns());
  EXPECT_EQ(command.effect->timeout_ns, 31'536'000'000'000'000u);
}

}  // namespace
}  // namespace holdfast::kernel
