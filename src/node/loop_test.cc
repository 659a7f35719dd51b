// SPDX-License-Identifier: Apache-2.0
// What the loop takes, what it refuses on a full disk or with a full inbox, and how it ends.
#include <gtest/gtest.h>

#include "node/testing_loop.h"

namespace holdfast::node {
namespace {

using kernel::testing::value;
using testing::LoopTest;

TEST_F(LoopTest, a_full_disk_takes_nothing_new_but_results_of_what_has_begun) {
  begin();
  start();
  disk_->set_capacity(used());
  std::size_t taken = 0;
  while (taken < 10'000 && ask(taken)) ++taken;
  ASSERT_LT(taken, 10'000u);
  EXPECT_EQ(refusal_, "the disk is full");
  ASSERT_FALSE(loop_->failure().has_value());
  EXPECT_EQ(hand_.held.size(), taken) << "what was taken was begun";

  const std::uint64_t before = open_->journal().durable();
  hand_.held.resize(3);
  hand_.give_back();
  run();
  EXPECT_EQ(open_->journal().durable(), before + 3) << "out of what is kept back";

  disk_->set_capacity(std::nullopt);
  EXPECT_FALSE(ask(taken)) << "nobody has looked for room";
  EXPECT_FALSE(loop_->has_preparing()) << "not so soon after the last time";
  clock_.advance_ns(1'000'000'000);
  while (loop_->has_preparing()) loop_->prepare();
  const auto answer = ask(taken);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(std::holds_alternative<kernel::Accepted>(*answer));
}

TEST_F(LoopTest, a_full_disk_takes_results_also_from_whoever_sends_them) {
  begin();
  start();
  disk_->set_capacity(used());
  std::size_t taken = 0;
  while (taken < 10'000 && ask(taken)) ++taken;
  ASSERT_EQ(refusal_, "the disk is full");
  EXPECT_EQ(loop_->figures().refused_for_room, 1u);
  const base::Bytes payload = value(R"({"ok":true})");
  kernel::ReceiptArrived receipt;
  receipt.intent = hand_.held.front();
  receipt.payload = payload;
  std::optional<kernel::Answer> answer;
  const auto sent = loop_->send(Input::receipt(receipt), [&](const auto& told) { answer = told; });
  ASSERT_TRUE(sent) << sent.error().to_string();
  run();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(std::holds_alternative<kernel::Accepted>(*answer));
}

TEST_F(LoopTest, a_journal_that_cannot_prepare_says_why_and_does_not_blame_a_full_disk) {
  begin();
  std::vector<std::string> troubles;
  LoopOptions options;
  options.trouble = [&](const base::Error& error) { troubles.push_back(error.to_string()); };
  start(std::move(options));
  disk_->set_capacity(used());
  for (std::size_t n = 0; n < 10'000 && refusal_.empty(); ++n) ask(n);
  EXPECT_EQ(refusal_, "the disk is full");
  for (int i = 0; i < 3; ++i) {
    clock_.advance_ns(kSecond);
    ASSERT_TRUE(loop_->has_preparing());
    disk_->fail_call(0, env::DiskFault::kIoError);
    loop_->prepare();
  }
  ASSERT_FALSE(loop_->failure().has_value()) << loop_->failure()->to_string();
  ASSERT_EQ(troubles.size(), 1u) << "said once, and not every second";
  EXPECT_EQ(troubles[0].find("the journal has no next file: "), 0u) << troubles[0];
  ask(10'001);
  EXPECT_EQ(refusal_.find("the disk is full"), std::string::npos) << refusal_;
}

TEST_F(LoopTest, a_want_of_descriptors_is_not_called_a_full_disk) {
  begin();
  std::vector<std::string> troubles;
  LoopOptions options;
  options.trouble = [&](const base::Error& error) { troubles.push_back(error.to_string()); };
  start(std::move(options));
  disk_->set_capacity(used());
  for (std::size_t n = 0; n < 10'000 && refusal_.empty(); ++n) ask(n);
  EXPECT_EQ(loop_->condition(), LoopCondition::kDiskFull);
  clock_.advance_ns(kSecond);
  disk_->fail_call(0, env::DiskFault::kNoDescriptors);
  loop_->prepare();
  EXPECT_EQ(loop_->condition(), LoopCondition::kNoFiles);
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_NE(troubles[0].find("Too many open files"), std::string::npos) << troubles[0];
  ask(10'001);
  EXPECT_EQ(refusal_, "the journal has no next file") << "and no place on the disk";
  disk_->set_capacity(std::nullopt);
  clock_.advance_ns(kSecond);
  while (loop_->has_preparing()) loop_->prepare();
  EXPECT_EQ(loop_->condition(), LoopCondition::kReady) << "it goes on by itself";
}

TEST_F(LoopTest, what_waited_when_the_disk_became_full_is_refused_and_not_forgotten) {
  begin();
  start({.batch_bytes = 1});  // one input a batch
  disk_->set_capacity(used());
  std::vector<kernel::Answer> answers;
  const base::Bytes event = value(R"({"id":"o","n":1})");
  std::size_t sent = 0;
  while (sent < 10'000 &&
         loop_->send(Input::event({"lab/Go@1", event, {}}),
                     [&](const kernel::Answer& heard) { answers.push_back(heard); })) {
    ++sent;
    if (sent % 5 == 0) run();
  }
  for (int i = 0; i < 10; ++i) run();
  ASSERT_EQ(answers.size(), sent);
  const auto* refused = std::get_if<kernel::Refused>(&answers.back());
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, base::ErrorCode::kUnavailable);
}

TEST_F(LoopTest, a_sync_that_fails_ends_it_and_whoever_asked_to_hears_of_it_once) {
  begin();
  std::vector<base::ErrorCode> ended;
  LoopOptions options;
  options.ended = [&](const base::Error& error) {
    ended.push_back(error.code());
    EXPECT_FALSE(ask(9)) << "and it refuses already";
  };
  start(std::move(options));
  ask(1);
  for (std::uint64_t call = 0; call < 3; ++call) {
    disk_->fail_call(call, env::DiskFault::kIoError);
    for (int i = 0; i < 3; ++i) ask(2 + call);
  }
  EXPECT_EQ(ended, std::vector<base::ErrorCode>{base::ErrorCode::kIo});
}

TEST_F(LoopTest, an_orderly_end_is_not_one_that_anybody_has_to_hear_of) {
  begin();
  bool ended = false;
  LoopOptions options;
  options.ended = [&](const base::Error&) { ended = true; };
  start(std::move(options));
  loop_->stop();
  loop_->shut_down_executors();
  run();
  EXPECT_TRUE(loop_->is_over());
  EXPECT_FALSE(ended);
}

TEST_F(LoopTest, an_inbox_that_holds_too_many_bytes_refuses_and_has_room_again) {
  begin();
  start({.inbox_bytes = 1000});
  const auto send = [this](std::size_t bytes) {
    const base::Bytes event = value(R"({"id":"o","n":1,"pad":")" + std::string(bytes, 'x') + "\"}");
    return loop_->send(Input::event({"lab/Go@1", event, {}}), nullptr);
  };
  EXPECT_TRUE(send(300));
  EXPECT_TRUE(send(300));
  const auto refused = send(600);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable);
  run();
  EXPECT_TRUE(send(5000)) << "one may be as large as it likes";
  EXPECT_FALSE(send(1));
}

TEST_F(LoopTest, progress_that_is_too_much_to_hold_is_let_go_of_and_receipts_are_not) {
  begin();
  start({.inbox_bytes = 1000});
  for (std::size_t i = 0; i < 3; ++i) ask(i);
  const base::Bytes payload = value("\"" + std::string(400, 'x') + "\"");
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence)
    hand_.hears.at(hand_.held.front())
        ->report(kernel::ProgressArrived{hand_.held.front(), sequence, "step", payload});
  hand_.give_back();
  const std::uint64_t before = open_->journal().durable();
  run();
  EXPECT_EQ(open_->journal().durable(), before + 2 + 3);
}

TEST_F(LoopTest, the_time_of_ticks_goes_back_neither_with_the_clock_nor_over_a_restart) {
  begin();
  now_s_ = 900;
  send_many(1);
  const std::uint64_t last = 901'000'000'000;
  start();
  ask(1);
  const auto reader = open_->journal().read(open_->journal().durable()).take();
  EXPECT_EQ(kernel::tick_of(reader->next().take()->bytes).take().time_ns, last + 875'000'000)
      << "a second after it began, in a world that is ahead of the clock";
}

TEST_F(LoopTest, it_ends_with_what_was_taken_and_takes_nothing_after) {
  begin();
  start();
  bool heard = false;
  const base::Bytes event = value(R"({"id":"o","n":1})");
  ASSERT_TRUE(loop_->send(Input::event({"lab/Go@1", event, {}}),
                          [&](const kernel::Answer&) { heard = true; }));
  loop_->stop();
  EXPECT_FALSE(ask(1));
  EXPECT_FALSE(loop_->is_over());
  run();
  EXPECT_TRUE(heard);
  EXPECT_FALSE(loop_->is_over()) << "somebody may report yet";
  loop_->shut_down_executors();
  EXPECT_TRUE(loop_->is_over());
  EXPECT_FALSE(loop_->failure().has_value());
}

TEST_F(LoopTest, what_was_reported_is_durable_when_it_ends) {
  begin();
  start();
  for (std::size_t i = 0; i < 3; ++i) ask(i);
  ASSERT_EQ(open_->world().open_intents(), 3u);
  loop_->stop();
  hand_.give_back();
  loop_->shut_down_executors();
  EXPECT_FALSE(loop_->is_over());
  run();
  EXPECT_TRUE(loop_->is_over());
  loop_.reset();
  open();
  EXPECT_EQ(open_->world().open_intents(), 0u);
}

}  // namespace
}  // namespace holdfast::node
