// SPDX-License-Identifier: Apache-2.0
// Design: "A tick, in order", 1 and 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/trace_context.h"
#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::emit;
using testing::json_of;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::kToSingle;
using testing::lab;
using testing::LabTest;
using testing::value;

class EventTickTest : public LabTest {};

TEST_F(EventTickTest,
       an_event_that_is_not_canonical_or_does_not_fit_is_refused_and_changes_nothing) {
  struct Case {
    base::Bytes value;
    const char* message;
  };
  const base::Bytes good = value(R"({"id":"a","n":1})");
  base::Bytes longer = good;  // the number 1 in two bytes
  longer.insert(longer.begin() + 3, 0x18);
  const Case cases[] = {
      {value(R"({"id":"a"})"), "the event: $: the field 'n' is missing"},
      {value(R"({"id":1,"n":1})"), "the event: $.id: expected text, got nat"},
      {{0xff}, "the event: $: a break where an item should be (byte 1)"},
      {{}, "the event: $: the bytes end where an item should be (byte 0)"},
      {longer, "the event is not in its canonical form"},
  };
  const base::Bytes before = *bench().world().snapshot();
  for (const Case& wrong : cases) {
    const Outcome outcome = bench().tick(EventArrived{"lab/Go@1", wrong.value, "id"});
    ASSERT_TRUE(std::holds_alternative<Refused>(outcome.answer)) << wrong.message;
    EXPECT_EQ(std::get<Refused>(outcome.answer).message, wrong.message);
    EXPECT_TRUE(outcome.record.empty());
  }
  EXPECT_EQ(*bench().world().snapshot(), before);
  EXPECT_EQ(bench().world().counters().refused, 5u);
}

TEST_F(EventTickTest, an_event_without_a_schema_in_the_manifest_is_refused) {
  const Outcome outcome = bench().event("lab/Nothing@1", "{}");
  EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kNotFound);
}

TEST_F(EventTickTest, an_idempotency_id_seen_before_gets_the_same_answer_and_no_effect) {
  const Outcome first = send("a", 1, "event-1");
  const base::Bytes before = *bench().world().snapshot();
  const Outcome again = send("a", 1, "event-1");
  EXPECT_EQ(std::get<Repeated>(again.answer).record, std::get<Accepted>(first.answer).record);
  EXPECT_TRUE(again.record.empty());
  EXPECT_TRUE(again.commands.empty());
  EXPECT_EQ(*bench().world().snapshot(), before);
  EXPECT_EQ(bench().world().counters().repeated_events, 1u);
}

TEST_F(EventTickTest, the_repeated_answer_says_what_the_first_one_said) {
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  send("a", 1);  // ends the keyed instance
  const auto expect_same = [&](const std::function<Outcome()>& sent) {
    const auto first = std::get<Accepted>(sent().answer);
    bench().put_away();
    const auto again = std::get<Repeated>(sent().answer);
    EXPECT_EQ(again.record, first.record);
    EXPECT_EQ(again.deliveries, first.deliveries);
    EXPECT_EQ(again.ignored, first.ignored);
    EXPECT_EQ(again.unrouted, first.unrouted);
  };
  expect_same([&] { return send("a", 1, "ignored by one"); });
  expect_same([&] { return send("b", 1, "new"); });
  expect_same([&] { return bench().event("lab/Unheard@1", "{}", "for nobody"); });
}

TEST_F(EventTickTest, an_event_that_no_instance_took_is_answered_so_again_also_after_a_restart) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) { output.leave_unhandled(); };
  const auto first = std::get<Accepted>(send("typo", 1, "web-9").answer);
  EXPECT_EQ(std::pair(first.deliveries, first.unhandled), std::pair(1u, 1u));
  ASSERT_EQ(first.untaken.size(), 1u);
  EXPECT_EQ(first.untaken[0].workflow, "lab/Keyed@1");
  EXPECT_EQ(first.untaken[0].key, value(R"("typo")"));
  EXPECT_EQ(first.untaken[0].why, Untaken::Why::kNone);
  const auto expect_same = [&] {
    const auto again = std::get<Repeated>(send("typo", 1, "web-9").answer);
    EXPECT_EQ(again.record, first.record);
    EXPECT_EQ(std::pair(again.deliveries, again.unhandled), std::pair(1u, 1u));
    ASSERT_EQ(again.untaken.size(), 1u);
    EXPECT_EQ(again.untaken[0].key, first.untaken[0].key);
    EXPECT_EQ(again.untaken[0].why, Untaken::Why::kNone);
  };
  expect_same();
  bench().expect_replays();  // without a snapshot
  bench().put_away();        // with one
  expect_same();
  keyed_ = testing::keep;
  send("typo", 1);
  expect_same();  // whatever has begun since
}

TEST_F(EventTickTest, an_event_for_an_instance_that_has_ended_names_it_and_how_it_ended) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  const auto taken = std::get<Accepted>(send("a", 1, "first").answer);
  EXPECT_TRUE(taken.untaken.empty());
  const auto late = std::get<Accepted>(send("a", 2, "late").answer);
  EXPECT_EQ(std::tuple(late.deliveries, late.ignored, late.unhandled), std::tuple(0u, 1u, 0u));
  bench().put_away();
  const auto again = std::get<Repeated>(send("a", 2, "late").answer);
  for (const std::vector<Untaken>& untaken : {late.untaken, again.untaken}) {
    ASSERT_EQ(untaken.size(), 1u);
    EXPECT_EQ(untaken[0].why, Untaken::Why::kEnded);
    EXPECT_EQ(untaken[0].ended, Status::kCompleted);
  }
}

TEST_F(EventTickTest, one_that_has_ended_and_one_that_is_not_there_are_both_named) {
  begin(std::string(kToKeyed) + "," + kToNumbered);
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  numbered_ = [](const StepInput&, StepOutput& output) { output.leave_unhandled(); };
  send("a", 1);
  const auto late = std::get<Accepted>(send("a", 2, "late").answer);
  EXPECT_EQ(std::tuple(late.deliveries, late.ignored, late.unhandled), std::tuple(1u, 1u, 1u));
  const auto again = std::get<Repeated>(send("a", 2, "late").answer);
  for (const std::vector<Untaken>& untaken : {late.untaken, again.untaken}) {
    ASSERT_EQ(untaken.size(), 2u);
    EXPECT_EQ(untaken[0].why, Untaken::Why::kEnded);
    EXPECT_EQ(untaken[1].workflow, "lab/Numbered@1");
    EXPECT_EQ(untaken[1].why, Untaken::Why::kNone);
  }
}

TEST_F(EventTickTest, what_a_step_emits_and_nobody_takes_is_not_the_events_own_answer) {
  single_ = [](const StepInput&, StepOutput& output) {
    testing::state(output, 1);
    emit(output, "lab/Stop@1", R"({"id":"nobody"})");
  };
  keyed_ = [](const StepInput&, StepOutput& output) { output.leave_unhandled(); };
  begin(kToSingle + std::string(",") + testing::kStopToKeyed);
  const auto sent = std::get<Accepted>(send("a", 1).answer);
  EXPECT_EQ(std::pair(sent.deliveries, sent.unhandled), std::pair(1u, 0u));
}

TEST_F(EventTickTest, an_id_that_belongs_to_another_event_is_a_conflict_that_names_it) {
  const base::Bytes one = value(go("a", 1));
  const base::Bytes two = value(go("a", 2));
  const base::Bytes stop = value(R"({"id":"a"})");
  const base::Bytes key = value(R"("a")");
  const base::Bytes other_key = value(R"("b")");
  const EventArrived first{"lab/Go@1", one, "mine", "lab/Keyed@1", key, true};
  ASSERT_TRUE(std::holds_alternative<Accepted>(bench().tick(first).answer));
  const base::Bytes before = *bench().world().snapshot();
  const EventArrived others[] = {
      {"lab/Go@1", two, "mine", "lab/Keyed@1", key, true},
      {"lab/Stop@1", stop, "mine", "lab/Keyed@1", key, true},
      {"lab/Go@1", one, "mine", "lab/Keyed@1", other_key, true},
      {"lab/Go@1", one, "mine", "lab/Numbered@1", key, true},
      {"lab/Go@1", one, "mine", "lab/Keyed@1", key, false},
      {"lab/Go@1", one, "mine"},
  };
  for (const EventArrived& other : others) {
    const Outcome outcome = bench().tick(other);
    ASSERT_TRUE(std::holds_alternative<Refused>(outcome.answer)) << other.schema;
    EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kConflict);
    EXPECT_THAT(std::get<Refused>(outcome.answer).message,
                ::testing::AllOf(::testing::HasSubstr("'mine'"), ::testing::HasSubstr("record 2")));
    EXPECT_TRUE(outcome.record.empty());
  }
  EXPECT_EQ(*bench().world().snapshot(), before);
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().tick(first).answer));
}

TEST_F(EventTickTest, an_id_is_remembered_behind_eighty_thousand_others) {
  begin(kToSingle);
  send("a", 1, "first");
  // The clock of the test moves by a second with every tick: this is not quite a day.
  for (int i = 1; i < 80'000; ++i) send("a", 1, std::to_string(i));
  EXPECT_TRUE(std::holds_alternative<Repeated>(send("a", 1, "first").answer));
  bench().put_away();
  EXPECT_TRUE(std::holds_alternative<Repeated>(send("a", 1, "first").answer));
}

TEST_F(EventTickTest, an_id_that_is_too_long_or_not_utf8_is_refused) {
  EXPECT_TRUE(std::holds_alternative<Refused>(send("a", 1, std::string(256, 'x')).answer));
  EXPECT_TRUE(std::holds_alternative<Refused>(send("a", 1, "\xff").answer));
  EXPECT_TRUE(std::holds_alternative<Accepted>(send("a", 1, std::string(255, 'x')).answer));
}

TEST_F(EventTickTest, subscriptions_in_manifest_order_every_match_is_delivered) {
  std::vector<std::string> order;
  const auto remember = [&](const StepInput& input, StepOutput& output) {
    order.emplace_back(input.context.workflow());
    testing::keep(input, output);
  };
  keyed_ = numbered_ = single_ = remember;
  begin(std::string(kToSingle) + "," + kToNumbered + "," + kToKeyed);
  EXPECT_EQ(std::get<Accepted>(send("a", 1).answer).deliveries, 3u);
  EXPECT_THAT(order, ::testing::ElementsAre("lab/Single@1", "lab/Numbered@1", "lab/Keyed@1"));
}

TEST_F(EventTickTest, an_event_that_is_an_arm_of_the_workflows_variant_is_wrapped) {
  std::string seen;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    codec::Buffer out;
    input.context.write_event(input.mail, out);
    seen = json_of(out.view());
    testing::keep(input, output);
  };
  send("a", 7);
  EXPECT_EQ(seen, R"({"$tag":"Go","$value":{"n":7,"id":"a"}})");
}

TEST_F(EventTickTest, a_subscription_to_the_variant_takes_it_whole_and_each_arm) {
  std::vector<std::string> seen;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    seen.push_back(input.mail.schema + json_of(input.mail.value));
    testing::keep(input, output);
  };
  begin(R"({"event":"lab/KeyedEvent@1","workflow":"lab/Keyed@1","key_field":"$value.id"})");
  bench().event("lab/KeyedEvent@1", R"({"$tag":"Stop","$value":{"id":"a"}})");
  bench().event("lab/Stop@1", R"({"id":"a"})");
  EXPECT_THAT(seen, ::testing::ElementsAre(R"(lab/Stop@1{"id":"a"})", R"(lab/Stop@1{"id":"a"})"));
  bench().expect_replays();
}

TEST_F(EventTickTest, an_arm_without_a_value_is_delivered_and_wrapped_as_such) {
  std::vector<std::string> seen;
  single_ = [&](const StepInput& input, StepOutput& output) {
    codec::Buffer out;
    input.context.write_event(input.mail, out);
    seen.push_back(input.mail.schema + json_of(input.mail.value) + json_of(out.view()));
    testing::state(output, 1);
  };
  std::string definitions = lab(R"({"event":"lab/NumberedEvent@1","workflow":"lab/Single@1"})");
  const auto change = [&](const std::string& from, const std::string& to) {
    definitions.replace(definitions.find(from), from.size(), to);
  };
  change(R"("lab/Unheard@1","type":{"record":{}})", R"("lab/Unheard@1","type":{"unit":{}})");
  change(R"("lab/NumberedEvent@1","type":{"variant":{)",
         R"("lab/NumberedEvent@1","type":{"variant":{"Quiet":{"ref":"lab/Unheard@1"},)");
  change(R"("lab/Single@1","state":"lab/State@1","event":"lab/Go@1")",
         R"("lab/Single@1","state":"lab/State@1","event":"lab/NumberedEvent@1")");
  bench_.emplace(definitions, machines_);
  bench().event("lab/NumberedEvent@1", R"({"$tag":"Quiet"})");
  bench().event("lab/Unheard@1", "null");
  const std::string each = R"(lab/Unheard@1null{"$tag":"Quiet"})";
  EXPECT_THAT(seen, ::testing::ElementsAre(each, each));
  bench().expect_replays();
}

TEST_F(EventTickTest, a_route_for_an_arm_comes_before_the_one_for_the_variant) {
  begin(R"({"event":"lab/NumberedEvent@1","workflow":"lab/Numbered@1","key_field":"$value.n"},)"
        R"({"event":"lab/Go@1","workflow":"lab/Numbered@1","key_field":"n"})");
  EXPECT_EQ(std::get<Accepted>(send("a", 7).answer).deliveries, 1u);
}

TEST_F(EventTickTest, each_subscriber_extracts_its_own_key) {
  send("a", 7);
  EXPECT_NE(keyed("a"), nullptr);
  EXPECT_NE(bench().find("lab/Numbered@1", "7"), nullptr);
  EXPECT_NE(bench().find("lab/Single@1", ""), nullptr);
  bench().expect_replays();
}

// A route cannot bring one: its field is of the key's own kind, or the definitions are refused.
TEST_F(EventTickTest, a_key_that_does_not_fit_key_schema_is_refused_and_nobody_gets_the_event) {
  const base::Bytes event = value(go("a", 1));
  const base::Bytes key = value("7");
  EventArrived sent{"lab/Go@1", event, {}};
  sent.workflow = "lab/Keyed@1";
  sent.key = key;
  const Outcome outcome = bench().tick(sent);
  ASSERT_TRUE(std::holds_alternative<Refused>(outcome.answer));
  EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kInvalid);
  EXPECT_THAT(std::get<Refused>(outcome.answer).message,
              ::testing::HasSubstr("the key does not fit 'lab/Keyed@1'"));
  EXPECT_TRUE(outcome.record.empty());
  EXPECT_EQ(keyed("a"), nullptr);
  sent.workflow = "lab/Numbered@1";
  EXPECT_EQ(std::get<Accepted>(bench().tick(sent).answer).deliveries, 1u);
}

TEST_F(EventTickTest, a_key_that_is_too_long_is_refused) {
  EXPECT_EQ(std::get<Refused>(send(std::string(1022, 'k'), 1).answer).code,
            base::ErrorCode::kTooLarge);
  EXPECT_TRUE(std::holds_alternative<Accepted>(send(std::string(1021, 'k'), 1).answer));
}

TEST_F(EventTickTest, an_event_without_subscriber_is_recorded_and_reported_as_unrouted) {
  const Outcome outcome = bench().event("lab/Unheard@1", "{}");
  EXPECT_TRUE(std::get<Accepted>(outcome.answer).unrouted);
  EXPECT_THAT(json_of(outcome.record),
              ::testing::HasSubstr(R"(["event.unrouted","lab/Unheard@1"])"));
  bench().expect_replays();
}

TEST_F(EventTickTest, an_event_may_name_its_one_instance) {
  const base::Bytes event = value(go("a", 1));
  const base::Bytes key = value(R"("z")");
  const Outcome outcome = bench().tick(EventArrived{"lab/Go@1", event, "", "lab/Keyed@1", key});
  EXPECT_EQ(std::get<Accepted>(outcome.answer).deliveries, 1u);
  EXPECT_NE(keyed("z"), nullptr);
  EXPECT_EQ(keyed("a"), nullptr);
  EXPECT_EQ(bench().find("lab/Single@1", ""), nullptr);
  bench().expect_replays();
}

// Its trace is kept with whoever it begins, goes with what that opens, now or later, and with
// whoever that begins; it survives being put away, and a replay.
TEST_F(EventTickTest, the_trace_of_an_event_stays_with_what_it_begins) {
  const base::Bytes trace =
      base::TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
          ->to_bytes();
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (testing::number(input) == 1) emit(output, "lab/Go@1", go("b", 2));
    testing::work(input, output);
  };
  const base::Bytes event = value(go("a", 1));
  const base::Bytes key = value(R"("a")");
  EventArrived traced{"lab/Go@1", event, "id", "lab/Keyed@1", key};
  traced.trace = trace;
  const Outcome outcome = bench().tick(traced);
  ASSERT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
  bench().put_away();
  const Outcome later = send("a", 3);  // of no trace
  std::size_t opened = 0;
  for (const Outcome* each : {&outcome, &later}) {
    for (const Command& command : each->commands) {
      const auto* open = std::get_if<OpenIntent>(&command);
      if (open == nullptr || open->workflow != "lab/Keyed@1") continue;
      EXPECT_TRUE(base::equal(open->trace, trace));
      ++opened;
    }
  }
  EXPECT_GE(opened, 3u);
  bench().put_away();
  for (const char* name : {"a", "b"}) EXPECT_EQ(keyed(name)->trace, trace) << name;
  std::size_t open = 0;
  ASSERT_TRUE(bench().world().visit_intents([&](const base::Hash& hash, const Intent& intent) {
    if (base::equal(bench().world().command_of(hash, intent).trace, trace)) ++open;
    return true;
  }));
  EXPECT_GE(open, 3u);
  // Sent again in another trace it is the same event.
  traced.trace = {};
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().tick(traced).answer));
  send("c", 5);
  EXPECT_TRUE(keyed("c")->trace.empty());
  bench().expect_replays();
}

TEST_F(EventTickTest, a_trace_that_is_none_is_refused) {
  const base::Bytes event = value(go("a", 1));
  for (const base::Bytes& wrong : {base::Bytes(24, 1), base::Bytes(25, 0), base::Bytes(26, 1)}) {
    EventArrived traced{"lab/Go@1", event, ""};
    traced.trace = wrong;
    EXPECT_EQ(std::get<Refused>(bench().tick(traced).answer).code, base::ErrorCode::kInvalid);
  }
}

TEST_F(EventTickTest, a_start_is_refused_when_the_instance_is_there_already) {
  const base::Bytes event = value(go("a", 1));
  const base::Bytes key = value(R"("z")");
  const EventArrived start{"lab/Go@1", event, "", "lab/Keyed@1", key, true};
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().tick(start).answer));
  EXPECT_EQ(std::get<Refused>(bench().tick(start).answer).code, base::ErrorCode::kConflict);
}

TEST_F(EventTickTest, an_event_that_names_what_cannot_take_it_is_refused) {
  const base::Bytes event = value(go("a", 1));
  const base::Bytes stop = value(R"({"id":"a"})");
  const base::Bytes text_key = value(R"("z")");
  const base::Bytes nat_key = value("7");
  const EventArrived wrong[] = {
      {"lab/Go@1", event, "", "lab/None@1", text_key},
      {"lab/Go@1", event, "", "lab/Keyed@1", nat_key},
      {"lab/Go@1", event, "", "lab/Keyed@1", {}},
      {"lab/Go@1", event, "", "lab/Single@1", text_key},
      {"lab/Stop@1", stop, "", "lab/Numbered@1", nat_key},
  };
  for (const EventArrived& tick : wrong)
    EXPECT_TRUE(std::holds_alternative<Refused>(bench().tick(tick).answer)) << tick.workflow;
}

TEST_F(EventTickTest, too_much_mail_for_one_instance_is_refused_and_nobody_gets_the_event) {
  send("a", 1);
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  for (std::size_t i = 0; i < kMaxMailPerInstance; ++i) send("a", 1);
  const std::uint64_t single_before = bench().find("lab/Single@1", "")->last_record;
  const Outcome outcome = send("a", 1);
  EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(bench().find("lab/Single@1", "")->last_record, single_before);
}

TEST_F(EventTickTest, a_key_needs_a_workflow_and_is_canonical) {
  const base::Bytes event = value(go("a", 1));
  const base::Bytes key = value(R"("a")");
  EventArrived sent{"lab/Go@1", event, {}};
  sent.key = key;
  EXPECT_EQ(std::get<Refused>(bench().tick(sent).answer).code, base::ErrorCode::kInvalid);
  sent.key = {};
  sent.starts = true;
  EXPECT_EQ(std::get<Refused>(bench().tick(sent).answer).code, base::ErrorCode::kInvalid);
  const base::Bytes long_head{0x78, 0x01, 'a'};  // the same text, in more bytes than it takes
  sent.workflow = "lab/Keyed@1";
  sent.key = long_head;
  EXPECT_EQ(std::get<Refused>(bench().tick(sent).answer).message,
            "the key is not in its canonical form");
  sent.key = key;
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().tick(sent).answer));
}

}  // namespace
}  // namespace holdfast::kernel
