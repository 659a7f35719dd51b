// SPDX-License-Identifier: Apache-2.0
// Effects over restarts and beyond their time limits.
#include <gtest/gtest.h>

#include "node/testing_loop.h"

namespace holdfast::node {
namespace {

using kernel::testing::value;
using testing::LoopTest;

TEST_F(LoopTest, what_is_opened_while_it_ends_is_started_by_the_next_one) {
  begin();
  start();
  const base::Bytes event = value(R"({"id":"o","n":1})");
  ASSERT_TRUE(loop_->send(Input::event({"lab/Go@1", event, {}}), nullptr));
  loop_->stop();
  loop_->shut_down_executors();
  run();
  EXPECT_TRUE(loop_->is_over());
  EXPECT_TRUE(hand_.held.empty());
  loop_.reset();
  open();
  start();
  EXPECT_EQ(hand_.held.size(), 1u);
}

TEST_F(LoopTest, what_an_executor_has_no_room_for_after_a_restart_waits_and_is_not_failed) {
  begin();
  send_many(10);
  hand_.room = 3;
  start();
  EXPECT_EQ(hand_.held.size(), 3u);
  std::size_t rounds = 0;
  for (; open_->world().open_intents() != 0; ++rounds) {
    ASSERT_LT(rounds, 10u);
    EXPECT_LE(hand_.held.size(), 3u);
    hand_.give_back();
    run();
  }
  EXPECT_EQ(rounds, 4u);
  const auto reader = open_->journal().read(12).take();
  while (const auto record = reader->next().take()) {
    const kernel::Tick tick = kernel::tick_of(record->bytes).take();
    EXPECT_EQ(std::get<kernel::ReceiptArrived>(tick.input).status, kernel::ReceiptStatus::kOk);
  }
}

TEST_F(LoopTest, what_nobody_here_performs_after_a_restart_stays_open_and_is_said) {
  begin();
  send_many(2);
  std::vector<std::string> troubles;
  LoopOptions options;
  options.trouble = [&](const base::Error& error) { troubles.push_back(error.to_string()); };
  loop_.emplace(open_->world(), open_->journal(), clock_, *random_, Executors{},
                std::move(options));
  ASSERT_TRUE(loop_->recover());
  run();
  EXPECT_EQ(open_->world().open_intents(), 2u);
  EXPECT_EQ(troubles,
            std::vector<std::string>{"this node has no executor 'worker': 2 effects stay open"});
}

TEST_F(LoopTest, the_pin_of_a_receipt_goes_when_the_receipt_is_durable_and_not_before) {
  begin();
  start({.written_at_once = 0});
  ASSERT_TRUE(ask(1));
  ASSERT_EQ(hand_.held.size(), 1u);
  const base::Bytes payload = value(R"({"ok":true})");
  auto pin = std::make_shared<int>();
  const std::weak_ptr<int> watched = pin;
  kernel::ReceiptArrived receipt;
  receipt.intent = hand_.held[0];
  receipt.payload = payload;
  hand_.listens->report_with_pin(receipt, std::move(pin));
  const std::uint64_t before = open_->journal().durable();
  for (int i = 0; i < 10 && open_->journal().durable() == before; ++i) {
    EXPECT_FALSE(watched.expired());
    loop_->turn();
    EXPECT_FALSE(watched.expired()) << "it is reduced, and not written";
    loop_->write();
  }
  EXPECT_EQ(open_->journal().durable(), before + 1);
  run();
  EXPECT_TRUE(watched.expired());
}

TEST_F(LoopTest, progress_beyond_what_may_wait_is_let_go_of) {
  begin();
  start({.inbox = 10});
  ASSERT_TRUE(ask(1));
  ASSERT_EQ(hand_.held.size(), 1u);
  const base::Bytes nothing = value("null");
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence)
    hand_.listens->report(kernel::ProgressArrived{hand_.held[0], sequence, "step", nothing});
  const std::uint64_t before = open_->journal().durable();
  run();
  EXPECT_EQ(open_->journal().durable(), before + 10) << "of the hundred that were reported";
}

TEST_F(LoopTest, an_effect_beyond_its_time_limit_is_stopped_and_settles_once) {
  begin();
  clock_.set_wall_ns(1000 * kSecond);  // ahead of the world, which goes by it
  start();
  ask(1);
  ASSERT_EQ(hand_.held.size(), 1u);
  clock_.advance_ns(kLimit - kSecond);
  run();
  EXPECT_EQ(ends(), Ends{});
  clock_.advance_ns(kSecond);
  run();
  EXPECT_EQ(ends(), Ends{kernel::ReceiptStatus::kTimeout});
  EXPECT_EQ(hand_.stopped, hand_.held);
  EXPECT_EQ(open_->world().open_intents(), 0u);
  hand_.give_back();  // too late
  run();
  EXPECT_EQ(ends(), Ends{kernel::ReceiptStatus::kTimeout});
  EXPECT_FALSE(loop_->has_turn());
}

TEST_F(LoopTest, an_effect_that_is_given_up_is_stopped_and_not_begun_again) {
  keyed_ = [](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::state(output, 1);
    if (input.mail.kind != kernel::MailKind::kEvent) return;
    if (input.state) return output.stop_effects("x");
    kernel::testing::open(output, "lab/work@1", R"({"a":1})", {}, "x");
  };
  begin();
  start();
  ask(1);
  ASSERT_EQ(hand_.held.size(), 1u);
  ask(1);
  EXPECT_EQ(hand_.stopped, hand_.held);
  EXPECT_EQ(open_->world().open_intents(), 0u);
  hand_.give_back();  // too late
  clock_.advance_ns(2 * kLimit);
  run();
  EXPECT_EQ(ends(), Ends{}) << "neither its receipt nor its time limit counts";
  loop_.reset();
  open();
  start();
  EXPECT_TRUE(hand_.held.empty());
}

TEST_F(LoopTest, an_effect_that_ends_in_time_hears_nothing_of_its_limit) {
  begin();
  start();
  ask(1);
  hand_.give_back();
  run();
  clock_.advance_ns(2 * kLimit);
  EXPECT_FALSE(loop_->has_turn());
  run();
  EXPECT_EQ(ends(), Ends{kernel::ReceiptStatus::kOk});
  EXPECT_TRUE(hand_.stopped.empty());
}

TEST_F(LoopTest, a_restart_does_not_make_a_time_limit_longer) {
  begin();
  clock_.set_wall_ns(1000 * kSecond);  // ahead of the world, which goes by it
  start();
  ask(1);
  clock_.advance_ns(kLimit / 2);
  loop_.reset();
  open();
  start();
  EXPECT_EQ(hand_.held.size(), 2u) << "and it is begun again, as it is not over";
  clock_.advance_ns(kLimit / 2 - 2 * kSecond);
  run();
  EXPECT_EQ(ends(), Ends{});
  clock_.advance_ns(kSecond);
  run();
  EXPECT_EQ(ends(), Ends{kernel::ReceiptStatus::kTimeout});
}

TEST_F(LoopTest, what_has_passed_its_time_limit_while_no_node_was_there_is_not_begun_again) {
  begin();
  send_many(3);
  clock_.advance_ns(kLimit + 10 * kSecond);
  start();
  EXPECT_TRUE(hand_.held.empty());
  run();
  EXPECT_EQ(ends(), Ends(3, kernel::ReceiptStatus::kTimeout));
}

TEST_F(LoopTest, an_executor_that_ends_what_is_late_reports_it_by_itself) {
  hand_.ends_itself = true;
  begin();
  start();
  ask(1);
  clock_.advance_ns(2 * kLimit);
  run();
  EXPECT_EQ(hand_.stopped, hand_.held) << "it is told";
  EXPECT_EQ(ends(), Ends{});
  hand_.give_back();
  run();
  EXPECT_EQ(ends(), Ends{kernel::ReceiptStatus::kOk});
}

}  // namespace
}  // namespace holdfast::node
