// SPDX-License-Identifier: Apache-2.0
// Nobody starves: lanes and workflows take turns, and what an executor has no room for waits.
#include <gtest/gtest.h>

#include <algorithm>

#include "node/testing_loop.h"

namespace holdfast::node {
namespace {

using kernel::testing::value;

class FairLoopTest : public testing::LoopTest {
 protected:
  static constexpr std::size_t kFlood = 2000;

  // Instances of lab/Keyed@1 that wait for an effect each, which have just been answered, but for
  // those of some more.
  void flood(std::size_t more = 0) {
    for (std::size_t i = 0; i < kFlood + more; ++i) ask(i);
    ASSERT_EQ(hand_.held.size(), kFlood + more);
    hand_.held.resize(kFlood);
    hand_.give_back();
    ASSERT_EQ(loop_->figures().waiting_results, kFlood);
    before_ = open_->journal().last();
  }

  void send_event(std::size_t number) {
    const base::Bytes event = value(R"({"id":"later-)" + std::to_string(number) + R"(","n":1})");
    ASSERT_TRUE(loop_->send(Input::event({"lab/Go@1", event, {}}), note_record()));
  }
  void send_control(kernel::Control control, std::size_t number) {
    const base::Bytes key = value("\"o-" + std::to_string(number) + "\"");
    ASSERT_TRUE(
        loop_->send(Input::control({control, "lab/Keyed@1", key, "enough"}), note_record()));
  }
  Heard note_record() {
    return [this](const kernel::Answer& answer) {
      const auto* accepted = std::get_if<kernel::Accepted>(&answer);
      ASSERT_NE(accepted, nullptr);
      answered_.push_back(accepted->record - before_);
    };
  }
  void run_all() {
    while (has_work()) run();
  }

  void turn_once() {
    loop_->turn();
    loop_->write();
    loop_->release();
  }

  std::uint64_t rings_ = 0;
  std::uint64_t hog_rings_ = 0;
  std::uint64_t before_ = 0;
  std::vector<std::uint64_t> answered_;  // how many records after the flood
};

TEST_F(FairLoopTest, control_is_reduced_before_anything_else_that_waits) {
  begin();
  start();
  flood();
  for (std::size_t i = 0; i < 20; ++i) send_event(i);
  for (std::size_t i = 0; i < 4; ++i) send_control(kernel::Control::kPause, i);
  run_all();
  ASSERT_EQ(answered_.size(), 24u);
  EXPECT_EQ(answered_[0], 1u);
  EXPECT_EQ(answered_[3], 4u);
}

// The bound of node/loop.h, in records: a slice has 32.
TEST_F(FairLoopTest, an_event_is_reduced_within_the_slices_that_its_own_lane_sets) {
  begin();
  start();
  flood();
  for (std::size_t i = 0; i < 100; ++i) send_event(i);
  run_all();
  ASSERT_EQ(answered_.size(), 100u);
  for (std::size_t place = 0; place < answered_.size(); ++place)
    EXPECT_LE(answered_[place], (place / 8 + 1) * 32) << place;
}

TEST_F(FairLoopTest, a_flood_of_control_leaves_room_for_events_and_results) {
  begin();
  start({.control = 1000});
  flood(500);
  for (std::size_t i = 0; i < 500; ++i) send_control(kernel::Control::kPause, kFlood + i);
  send_event(1);
  run_all();
  ASSERT_EQ(answered_.size(), 501u);
  EXPECT_EQ(std::count_if(answered_.begin(), answered_.end(), [](auto at) { return at <= 32; }), 9);
}

TEST_F(FairLoopTest, control_finds_room_when_the_inbox_is_full) {
  begin();
  start({.inbox = 2, .control = 1});
  ask(1);
  before_ = open_->journal().last();
  send_event(1);
  send_event(2);
  EXPECT_FALSE(ask(3));
  EXPECT_EQ(refusal_, "too many inputs wait for the node");
  send_control(kernel::Control::kCancel, 1);
  const base::Bytes key = value("\"o-1\"");
  const auto more =
      loop_->send(Input::control({kernel::Control::kPause, "lab/Keyed@1", key, ""}), nullptr);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), base::ErrorCode::kUnavailable);
  run_all();
  EXPECT_EQ(answered_, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(FairLoopTest, workflows_take_turns_in_having_their_results_heard) {
  numbered_ = kernel::testing::work;
  begin();
  start();
  for (std::size_t i = 0; i < kFlood; ++i) ask(i);
  const base::Bytes event = value(R"({"id":"other","n":7})");
  const base::Bytes key = value("7");
  kernel::EventArrived to_other{"lab/Go@1", event, {}};
  to_other.workflow = "lab/Numbered@1";
  to_other.key = key;
  ASSERT_TRUE(loop_->send(Input::event(to_other), nullptr));
  run_all();
  ASSERT_EQ(hand_.held.size(), kFlood + 1);
  const base::Hash other = hand_.held.back();
  before_ = open_->journal().last();
  hand_.give_back();
  run_all();
  std::uint64_t heard_at = 0;
  const auto reader = open_->journal().read(before_ + 1).take();
  while (const auto record = reader->next().take()) {
    const kernel::Tick tick = kernel::tick_of(record->bytes).take();
    if (std::get<kernel::ReceiptArrived>(tick.input).intent == other) heard_at = record->number;
  }
  EXPECT_EQ(heard_at, before_ + 1) << "it was the last of 2001, 2000 of them of one workflow";
}

// A timer that is set when its time has passed is due behind those that were due before.
TEST_F(FairLoopTest, timers_that_are_always_due_do_not_keep_others_from_ringing) {
  keyed_ = [this](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::state(output, 1);
    const bool is_event = input.mail.kind == kernel::MailKind::kEvent;
    const bool is_hog = input.context.key().size() == value("\"hog-00\"").size();
    if (!is_event) ++(is_hog ? hog_rings_ : rings_);
    if (!is_event && !is_hog) return;
    const std::string at = is_hog ? "0" : std::to_string(input.context.time_ns() + kSecond);
    kernel::testing::open(output, "sys/timer.set@1", R"({"deliver_at_ns":)" + at + "}", {}, {});
  };
  begin();
  start();
  constexpr std::size_t kHogs = 600;  // more than fire in one turn
  for (std::size_t i = 0; i < kHogs; ++i) {
    const base::Bytes event =
        value(R"({"id":"hog-)" + std::to_string(i / 100) + std::to_string(i % 100 / 10) +
              R"(","n":)" + std::to_string(i) + "}");
    ASSERT_TRUE(loop_->send(Input::event({"lab/Go@1", event, {}}), nullptr));
  }
  ASSERT_TRUE(ask(1));
  for (int i = 0; i < 10; ++i) turn_once();
  clock_.advance_ns(2 * kSecond);
  const std::uint64_t hog_rings = hog_rings_;
  int turns = 0;
  for (; rings_ == 0 && turns < 100; ++turns) turn_once();
  EXPECT_EQ(rings_, 1u);
  EXPECT_LE(turns, 5) << "600 are due before it, and 256 ring in a turn";
  EXPECT_GT(hog_rings_, hog_rings) << "they go on all the time";
}

TEST_F(FairLoopTest, what_an_executor_has_no_room_for_waits_and_does_not_fail) {
  begin();
  start();
  hand_.room = 3;
  for (std::size_t i = 0; i < 100; ++i) {
    ask(i);
    ASSERT_LE(hand_.held.size(), 3u);
  }
  EXPECT_EQ(loop_->figures().held_effects, 97u);
  for (int rounds = 0; open_->world().open_intents() != 0; ++rounds) {
    ASSERT_LT(rounds, 40);
    hand_.give_back();
    run_all();
    ASSERT_LE(hand_.held.size(), 3u);
  }
  EXPECT_EQ(ends(), Ends(100, kernel::ReceiptStatus::kOk));
  EXPECT_EQ(loop_->figures().held_effects, 0u);
}

TEST_F(FairLoopTest, what_waits_for_room_is_started_when_another_one_is_given_up) {
  begin();
  start();
  hand_.room = 1;
  ask(1);
  ask(2);
  ask(3);
  const std::vector<base::Hash> first = hand_.held;
  ASSERT_EQ(first.size(), 1u);
  hand_.held.clear();  // as an executor does that is told to stop one
  send_control(kernel::Control::kCancel, 1);
  run_all();
  ASSERT_EQ(hand_.held.size(), 1u) << "nothing else would wake it";
  EXPECT_NE(hand_.held, first);
  EXPECT_FALSE(loop_->has_turn());
}

TEST_F(FairLoopTest, one_that_is_given_up_while_it_waits_is_never_started) {
  begin();
  start();
  hand_.room = 1;
  for (std::size_t i = 1; i <= 3; ++i) ask(i);
  send_control(kernel::Control::kCancel, 2);
  run_all();
  hand_.give_back();
  run_all();
  hand_.give_back();
  run_all();
  EXPECT_TRUE(hand_.held.empty());
  EXPECT_EQ(ends(), Ends(2, kernel::ReceiptStatus::kOk));
}

TEST_F(FairLoopTest, a_time_limit_counts_while_an_effect_waits_for_room) {
  begin();
  start();
  hand_.room = 0;
  ask(1);
  EXPECT_TRUE(hand_.held.empty());
  clock_.advance_ns(kLimit + kSecond);
  run_all();
  EXPECT_EQ(ends(), Ends{kernel::ReceiptStatus::kTimeout});
  hand_.room = 1;
  ask(2);
  run_all();
  EXPECT_EQ(hand_.held.size(), 1u) << "the late one is not started";
  EXPECT_EQ(loop_->figures().held_effects, 0u);
}

TEST_F(FairLoopTest, what_waits_for_room_waits_again_after_a_restart) {
  begin();
  start();
  hand_.room = 2;
  for (std::size_t i = 0; i < 10; ++i) ask(i);
  loop_.reset();
  hand_.held.clear();
  open();
  start();
  EXPECT_EQ(hand_.held.size(), 2u);
  for (int rounds = 0; open_->world().open_intents() != 0; ++rounds) {
    ASSERT_LT(rounds, 10);
    hand_.give_back();
    run_all();
  }
  EXPECT_EQ(ends(), Ends(10, kernel::ReceiptStatus::kOk));
}

// Its results are not taken while it rests, but people can intervene.
TEST_F(FairLoopTest, control_gets_through_while_a_snapshot_is_waited_for) {
  begin();
  keeps_ = false;
  LoopOptions options;
  options.snapshots.every = 10;
  options.begin_snapshot = [](std::uint64_t) -> base::Result<FinishSnapshot> {
    return FinishSnapshot([]() -> base::Result<std::uint64_t> { return 1; });
  };
  start(std::move(options));
  for (std::size_t i = 0; i < 30; ++i) send_event(i);
  run();
  const std::uint64_t records = open_->journal().last();
  ASSERT_FALSE(loop_->has_turn()) << "a snapshot is not finished, and the next one is due";
  const base::Bytes key = value("\"later-0\"");
  bool is_answered = false;
  ASSERT_TRUE(loop_->send(Input::control({kernel::Control::kCancel, "lab/Keyed@1", key, ""}),
                          [&](const kernel::Answer&) { is_answered = true; }));
  run();
  EXPECT_TRUE(is_answered);
  EXPECT_EQ(open_->journal().last(), records + 1);
  EXPECT_FALSE(loop_->has_turn());
}

}  // namespace
}  // namespace holdfast::node
