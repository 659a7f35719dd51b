// SPDX-License-Identifier: Apache-2.0
// Design: "A tick, in order", 3 to 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "defs/builtin.h"
#include "kernel/identity.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using testing::emit;
using testing::json_of;
using testing::kToKeyed;
using testing::kToSingle;
using testing::LabTest;
using testing::number;
using testing::open;
using testing::opened;
using testing::state;

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

// A workflow sees the envelope only as a hash in its declared context.
TEST_F(StepTest,
       envelopes_have_the_executor_and_the_hash_of_the_params_if_the_context_is_declared) {
  for (const bool declares : {false, true}) {
    std::vector<std::string> envelopes;
    keyed_ = [&](const StepInput& input, StepOutput& output) {
      state(output, 1);
      if (input.mail.kind == MailKind::kEvent) return open(output, "lab/work@1", R"({"a":1})");
      codec::Buffer out;
      input.context.write_event(input.mail, out);
      envelopes.push_back(json_of(out.view()));
    };
    bench_.emplace(declares ? with_context("lab/Keyed@1", "sys/WorkflowContext@1")
                            : testing::lab(std::string(kToKeyed) + "," + kToSingle),
                   machines_);
    const base::Hash intent = opened(send("a", 1)).at(0);
    bench().progress(intent, 1, R"("half")");
    // The receipt waits in a snapshot meanwhile.
    bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
    bench().receipt(intent, R"({"ok":true})");
    bench().put_away();
    bench().control(Control::kResume, "lab/Keyed@1", R"("a")");
    ASSERT_EQ(envelopes.size(), 2u);
    const base::Bytes params = testing::value(R"({"a":1,"b":null})");
    const std::string hash =
        declares ? "\"" + value_hash(params).to_text() + "\"" : std::string("null");
    for (const std::string& envelope : envelopes) {
      EXPECT_THAT(envelope, ::testing::HasSubstr(R"("params_hash":)" + hash));
      EXPECT_THAT(envelope, ::testing::HasSubstr(R"("executor_entrypoint":"worker")"));
      EXPECT_THAT(envelope, ::testing::HasSubstr(R"("executor_module":null)"));
    }
    bench().expect_replays();
  }
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
