// SPDX-License-Identifier: Apache-2.0
// Turns that a run hardly ever comes to: the state is made for them.
#include "steps/turn.h"

#include <gtest/gtest.h>

#include "steps/state_codec.h"
#include "steps/testing.h"
#include "steps/testing_context.h"

namespace holdfast::steps::testing {
namespace {

class TurnTest : public ::testing::Test {
 protected:
  // A turn that only goes on with what is there.
  void go_on(std::string_view state, const Outbox& outbox) {
    kernel::Mail mail;
    mail.kind = kernel::MailKind::kReceipt;
    mail.origin.issuer_ref = "c";
    step(state, outbox, mail);
  }
  void step(std::string_view state, const Outbox& outbox, const kernel::Mail& mail) {
    codec::Buffer broker;
    write_broker(broker, table_.parse().state(state), outbox);
    step_with(broker.view(), mail);
  }
  void step_with(base::ByteView broker, const kernel::Mail& mail) {
    codec::Buffer value;
    codec::write_map_head(value, 2);
    codec::write_text(value, "broker");
    codec::write_bytes(value, broker);
    codec::write_text(value, "status");
    codec::write_text(value, "running");
    machine_.step({value.view(), mail, context_, true, can_hold_}, output_);
    output_.finish();
  }
  std::string status() const {
    return std::string(*codec::View::of(*output_.state()).find("status")->text());
  }
  std::vector<std::string> effects() const {
    std::vector<std::string> names;
    for (const auto& effect : output_.effects()) names.emplace_back(output_.text(effect.name));
    return names;
  }

  Table table_{"work: Start | A -> A | Stop"};
  StepsMachine machine_{table_.graph(), "t/Flow@1"};
  FixedContext context_;
  kernel::StepOutput output_;
  bool can_hold_ = false;
};

using Names = std::vector<std::string>;

TEST_F(TurnTest, what_was_not_issued_is_issued) {
  go_on("last i1 r1 \n work running 0 r1 A1 i1 t5", {});
  EXPECT_EQ(effects(), Names({"t/Flow.work@1"}));
  EXPECT_EQ(status(), "running");
}

TEST_F(TurnTest, nothing_is_issued_while_too_much_is_open) {
  Outbox outbox;
  outbox.open_runs = 8000;
  go_on("last i1 r1 \n work running 0 r1 A1 i1 t5", outbox);
  EXPECT_EQ(effects(), Names());
}

TEST_F(TurnTest, what_a_step_cannot_be_given_ends_the_run) {
  const std::string large(600'000, 'x');
  const std::string state = "last i1 r1 \n work running 0 r1 A\"" + large + "\" i1 t5";
  go_on(state, {});
  EXPECT_EQ(output_.fate(), kernel::Fate::kFailed);
  EXPECT_EQ(output_.error_code(), "steps.too_large_to_run");
  EXPECT_EQ(effects(), Names());
  EXPECT_EQ(output_.annotations().size(), 1U);
}

TEST_F(TurnTest, what_has_no_room_yet_waits_for_those_that_run) {
  const std::string large(600'000, 'x');
  const std::string state = "last i1 r1 \n work running 0 r1 A\"" + large + "\" i1 t5";
  Outbox outbox;
  outbox.open_runs = 1;
  go_on(state, outbox);
  EXPECT_EQ(output_.fate(), kernel::Fate::kGoesOn);
  EXPECT_EQ(effects(), Names());
}

// A run that has so many bytes live, and an event for it.
class NearlyFullTest : public TurnTest {
 protected:
  NearlyFullTest() { can_hold_ = true; }

  void hear(const std::string& what) {
    kernel::Mail event;
    event.schema = "A";
    event.value = {0x01};
    const std::string large(680'000, 'x');
    step("last i2 r1 \n " + what + "\n work queued A\"" + large + "\" i2 f1 t5 @50", {}, event);
  }
};

TEST_F(NearlyFullTest, an_event_waits_in_the_mailbox_while_a_step_is_running) {
  hear("work running 0 r1 A1 i1 t5");
  EXPECT_FALSE(output_.holds()) << "there is room";
  output_.clear();
  hear("work running 0 r1 A\"" + std::string(10'000, 'y') + "\" i1 t5");
  EXPECT_TRUE(output_.holds());
}

TEST_F(NearlyFullTest, an_event_is_taken_if_nothing_is_running_or_nothing_will_answer) {
  const std::string more = std::string(10'000, 'y');
  hear("work queued A\"" + more + "\" i1 f1 t5 @50");
  EXPECT_FALSE(output_.holds());
  EXPECT_EQ(output_.fate(), kernel::Fate::kGoesOn);
  output_.clear();
  can_hold_ = false;
  hear("work running 0 r1 A\"" + more + "\" i1 t5");
  EXPECT_FALSE(output_.holds());
  EXPECT_EQ(output_.fate(), kernel::Fate::kGoesOn);
}

TEST_F(TurnTest, more_timers_than_can_be_set_end_the_run) {
  Outbox outbox;
  for (std::uint64_t due = 100; due < 8100; ++due) outbox.alarms.push_back(due);
  go_on("last i1 r1 \n work queued A1 i1 f1 t5 @50", outbox);
  EXPECT_EQ(output_.fate(), kernel::Fate::kFailed);
  EXPECT_EQ(output_.error_code(), "steps.too_many_alarms");
}

TEST_F(TurnTest, a_timer_that_is_set_and_early_enough_is_enough) {
  Outbox outbox;
  outbox.alarms = {50};
  go_on("last i1 r1 \n work queued A1 i1 f1 t5 @50", outbox);
  EXPECT_EQ(effects(), Names());
  output_.clear();
  outbox.alarms = {51};
  go_on("last i1 r1 \n work queued A1 i1 f1 t5 @50", outbox);
  EXPECT_EQ(effects(), Names({"sys/timer.set@1"}));
}

// Ends and entries had to wait once, in states that may still be there.
TEST_F(TurnTest, an_end_that_waits_in_an_older_state_comes_with_the_next_turn) {
  const base::Bytes entry = {0xa0};
  const base::Bytes result = {0x07};
  codec::Buffer broker;
  codec::write_list_head(broker, 6);
  codec::write_list_head(broker, 0);
  codec::write_bool(broker, true);
  codec::write_bool(broker, false);
  codec::write_nat(broker, 0);
  codec::write_list_head(broker, 1);
  codec::write_bytes(broker, entry);
  codec::write_list_head(broker, 4);
  codec::write_bool(broker, false);
  codec::write_text(broker, "");
  codec::write_text(broker, "");
  codec::write_bytes(broker, result);
  write_state(broker, table_.parse().state("last i1 r1 \n not running"));
  kernel::Mail mail;
  mail.schema = "A";
  mail.value = {0x01};
  step_with(broker.view(), mail);
  EXPECT_EQ(output_.fate(), kernel::Fate::kCompleted);
  ASSERT_EQ(output_.annotations().size(), 1U);
  EXPECT_EQ(output_.value(output_.annotations()[0]).size(), entry.size());
  EXPECT_EQ(output_.result()->front(), result.front());
  EXPECT_EQ(effects(), Names());
}

TEST_F(TurnTest, everything_that_is_due_comes_with_one_timer) {
  kernel::Mail mail;
  mail.kind = kernel::MailKind::kReceipt;
  mail.origin.issuer_ref = "a3";
  Outbox outbox;
  outbox.alarms = {3};
  step(R"(last i4 r1
          work queued A1 i1 f1 t1 @4
          work queued A2 i2 f1 t1 @3
          work queued A3 i3 f1 t1 @6
          work waits w Start for A4 i4 until 5)",
       outbox, mail);
  // Two retries and a wait that timed out; the third retry has a timer of its own.
  EXPECT_EQ(effects(),
            Names({"t/Flow.work@1", "t/Flow.work@1", "t/Flow.work@1", "sys/timer.set@1"}));
}

TEST_F(TurnTest, an_event_that_the_workflow_does_not_have_ends_the_run) {
  kernel::Mail mail;
  mail.schema = "Other";
  mail.value = {0x01};
  step("last i1 r1 \n work running 0 r1 A1 i1 t5 issued", {}, mail);
  EXPECT_EQ(output_.fate(), kernel::Fate::kFailed);
  EXPECT_EQ(output_.error_code(), "steps.unknown_event");
}

}  // namespace
}  // namespace holdfast::steps::testing
