// SPDX-License-Identifier: Apache-2.0
// Turns that a run hardly ever comes to: the state is made for them.
#include "steps/turn.h"

#include <gtest/gtest.h>

#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

class FixedContext : public kernel::Context {
 public:
  std::uint64_t time_ns() const override { return 5; }
  std::uint64_t logical_ns() const override { return 5; }
  std::uint64_t record() const override { return 1; }
  base::Hash entropy() const override { return {}; }
  base::Hash manifest_hash() const override { return {}; }
  std::string_view workflow() const override { return "t/Flow@1"; }
  base::Hash workflow_hash() const override { return {}; }
  base::ByteView key() const override { return {}; }
  bool is_keyed() const override { return false; }
  std::uint64_t mail_waiting() const override { return 0; }
  void write_event(const kernel::Mail&, codec::Buffer&) const override {}
  bool write_context(const kernel::Mail&, codec::Buffer&) const override { return false; }
};

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
    codec::Buffer value;
    codec::write_map_head(value, 2);
    codec::write_text(value, "broker");
    codec::write_bytes(value, broker.view());
    codec::write_text(value, "status");
    codec::write_text(value, "running");
    machine_.step({value.view(), mail, context_}, output_);
    output_.finish();
  }
  std::string status() const {
    return std::string(*codec::View::of(*output_.state()).find("status")->text());
  }
  // How the run is to end.
  std::string ending() {
    const auto broker =
        read_broker(*codec::View::of(*output_.state()).find("broker")->bytes(), machine_.graph());
    return broker && broker->outbox.ending ? std::string(broker->outbox.ending->failure.code) : "";
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
  EXPECT_EQ(ending(), "steps.too_large_to_run");
  EXPECT_EQ(effects(), Names({"sys/timer.set@1"}));
}

TEST_F(TurnTest, what_has_no_room_yet_waits_for_those_that_run) {
  const std::string large(600'000, 'x');
  const std::string state = "last i1 r1 \n work running 0 r1 A\"" + large + "\" i1 t5";
  Outbox outbox;
  outbox.open_runs = 1;
  go_on(state, outbox);
  EXPECT_EQ(ending(), "");
  EXPECT_EQ(effects(), Names());
}

TEST_F(TurnTest, more_timers_than_can_be_set_end_the_run) {
  Outbox outbox;
  for (std::uint64_t due = 100; due < 8100; ++due) outbox.alarms.push_back(due);
  go_on("last i1 r1 \n work queued A1 i1 f1 t5 @50", outbox);
  EXPECT_EQ(ending(), "steps.too_many_alarms");
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
