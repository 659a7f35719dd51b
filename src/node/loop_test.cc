// SPDX-License-Identifier: Apache-2.0
// The loop on one thread, on a simulated disk.
#include "node/loop.h"

#include <gtest/gtest.h>

#include <optional>

#include "env/clock.h"
#include "node/testing_world.h"

namespace holdfast::node {
namespace {

using kernel::testing::value;

// Takes work, and gives it back when it is told to.
struct Hand : executors::Executor {
  void start(const kernel::OpenIntent& intent, executors::Reports& reports) override {
    held.push_back(intent.intent);
    listens = &reports;
  }
  bool has_room(const kernel::OpenIntent&) override { return held.size() < room; }
  bool keeps_time_limits() const override { return keeps_limits; }
  void stop(const base::Hash& intent) override { stopped.push_back(intent); }
  void give_back() {
    const base::Bytes payload = value(R"({"ok":true})");
    for (const base::Hash& intent : held) {
      kernel::ReceiptArrived receipt;
      receipt.intent = intent;
      receipt.payload = payload;
      listens->report(receipt);
    }
    held.clear();
  }
  std::vector<base::Hash> held;
  std::vector<base::Hash> stopped;
  std::size_t room = 1'000'000;  // for what is started again
  bool keeps_limits = false;
  executors::Reports* listens = nullptr;
};

class LoopTest : public testing::LabWorldTest {
 protected:
  void start(LoopOptions options = {}) {
    loop_.emplace(open_->world(), open_->journal(), clock_, *random_, Executors{{"worker", &hand_}},
                  std::move(options));
    ASSERT_TRUE(loop_->recover());
    clock_.advance_ns(1'000'000'000);
    while (loop_->has_preparing()) loop_->prepare();
  }

  // What became of an event with a long id; nothing: it was not taken, and `refusal` says why.
  std::optional<kernel::Answer> ask(std::size_t number) {
    const base::Bytes event =
        value(R"({"id":"o-)" + std::to_string(number) + R"(","n":)" + std::to_string(number) + "}");
    std::optional<kernel::Answer> answer;
    const auto sent = loop_->send(Input::event({"lab/Go@1", event, {}}),
                                  [&answer](const kernel::Answer& heard) { answer = heard; });
    if (!sent) {
      refusal_ = sent.error().message();
      return std::nullopt;
    }
    run();
    return answer;
  }
  void run() {
    for (int i = 0; i < 10 && has_work(); ++i) {
      loop_->turn();
      loop_->write();
      loop_->release();
      if (keeps_) loop_->keep();
    }
  }
  bool has_work() {
    return loop_->has_turn() || loop_->has_writing() || loop_->has_releasing() ||
           (keeps_ && loop_->has_keeping());
  }
  // By a snapshot that says "the blobs are gone".
  void expect_end_by(BeginSnapshot begin_snapshot) {
    begin();
    LoopOptions options;
    options.snapshot_every = 1;
    options.begin_snapshot = std::move(begin_snapshot);
    std::vector<std::string> ended;
    options.ended = [&](const base::Error& error) { ended.push_back(error.message()); };
    start(std::move(options));
    ask(1);
    ask(2);
    ASSERT_TRUE(loop_->failure().has_value());
    EXPECT_EQ(loop_->failure()->message(), "the blobs are gone");
    EXPECT_FALSE(ask(3));
    EXPECT_EQ(refusal_, "the blobs are gone");
    loop_->turn();
    EXPECT_EQ(ended, std::vector<std::string>{"the blobs are gone"}) << "once";
  }
  std::uint64_t used() const {
    std::uint64_t bytes = 0;
    for (const auto& [file, content] : disk_->now().files) bytes += content.size();
    return bytes;
  }

  // How the effects ended whose receipts are in the journal.
  std::vector<kernel::ReceiptStatus> ends() {
    std::vector<kernel::ReceiptStatus> ends;
    const auto reader = open_->journal().read(1).take();
    while (const auto record = reader->next().take()) {
      const kernel::Tick tick = kernel::tick_of(record->bytes).take();
      if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&tick.input))
        ends.push_back(receipt->status);
    }
    return ends;
  }

  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kLimit = 31'536'000 * kSecond;  // of lab/work@1
  using Ends = std::vector<kernel::ReceiptStatus>;

  env::ManualClock clock_;
  Hand hand_;
  std::optional<Loop> loop_;
  std::string refusal_;
  bool keeps_ = true;  // finishes snapshots
};

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

TEST_F(LoopTest, a_snapshot_is_taken_after_so_many_records_all_of_them_durable) {
  begin();
  std::vector<std::uint64_t> taken_at;
  LoopOptions options;
  options.snapshot_every = 10;
  options.behind_snapshot = 4;
  options.begin_snapshot = [&](std::uint64_t) -> base::Result<FinishSnapshot> {
    EXPECT_EQ(open_->world().next_record(), open_->journal().durable() + 1);
    taken_at.push_back(open_->journal().durable());
    return FinishSnapshot([] { return base::Result<store::RecordNumber>(1); });
  };
  start(std::move(options));
  for (std::size_t i = 0; i < 25; ++i) ask(i);
  EXPECT_EQ(taken_at, (std::vector<std::uint64_t>{7, 17})) << "the first record is the manifest";
}

TEST_F(LoopTest, a_snapshot_that_finds_no_room_is_put_off_and_said_so) {
  begin();
  LoopOptions options;
  options.snapshot_every = 2;
  std::vector<std::string> troubles;
  std::size_t taken = 0;
  options.begin_snapshot = [&](std::uint64_t now_ns) -> base::Result<FinishSnapshot> {
    auto finish = TRY(snapshots_of(*open_)(now_ns));
    return FinishSnapshot([&taken, finish]() -> base::Result<store::RecordNumber> {
      const store::RecordNumber needed = TRY(finish());
      ++taken;
      return needed;
    });
  };
  options.trouble = [&](const base::Error& error) { troubles.push_back(error.to_string()); };
  start(std::move(options));
  disk_->set_capacity(used());
  for (std::size_t i = 0; i < 4; ++i) ask(i);
  ASSERT_FALSE(loop_->failure().has_value()) << loop_->failure()->to_string();
  EXPECT_EQ(taken, 0u);
  ASSERT_FALSE(troubles.empty());
  EXPECT_EQ(troubles[0].find("a snapshot is put off: "), 0u) << troubles[0];

  disk_->set_capacity(std::nullopt);
  clock_.advance_ns(1'000'000'000);
  while (loop_->has_preparing()) loop_->prepare();
  for (std::size_t i = 4; i < 8; ++i) ask(i);
  EXPECT_GT(taken, 0u);
  const base::Bytes before = state();
  loop_.reset();
  open();
  EXPECT_TRUE(open_->restoring().snapshot.has_value());
  EXPECT_EQ(state(), before);
}

TEST_F(LoopTest, a_snapshot_that_is_due_at_the_start_on_a_full_disk_does_not_end_it) {
  begin();
  send_many(30);
  disk_->set_capacity(used());
  LoopOptions options;
  options.snapshot_every = 10;
  options.behind_snapshot = 31;
  int troubles = 0;
  options.begin_snapshot = snapshots_of(*open_);
  options.trouble = [&](const base::Error&) { ++troubles; };
  start(std::move(options));
  run();
  EXPECT_FALSE(loop_->failure().has_value());
  EXPECT_EQ(troubles, 1);
}

TEST_F(LoopTest, a_snapshot_that_cannot_begin_ends_it) {
  expect_end_by([](std::uint64_t) -> base::Result<FinishSnapshot> {
    return base::Error(base::ErrorCode::kIo, "the blobs are gone");
  });
}

TEST_F(LoopTest, a_snapshot_that_cannot_be_finished_ends_it) {
  expect_end_by([](std::uint64_t) -> base::Result<FinishSnapshot> {
    return FinishSnapshot([]() -> base::Result<store::RecordNumber> {
      return base::Error(base::ErrorCode::kIo, "the blobs are gone");
    });
  });
}

// One that is still being finished keeps the next from beginning, and new work out, so that a
// restart never has more than twice as many records to replay.
TEST_F(LoopTest, a_snapshot_that_takes_long_holds_new_work_up_when_the_next_is_due) {
  begin();
  LoopOptions options;
  options.snapshot_every = 5;
  int begun = 0;
  options.begin_snapshot = [&](std::uint64_t) -> base::Result<FinishSnapshot> {
    ++begun;
    return FinishSnapshot([] { return base::Result<store::RecordNumber>(1); });
  };
  start(std::move(options));
  keeps_ = false;
  std::size_t answered = 0;
  while (answered < 100 && ask(answered)) ++answered;
  EXPECT_EQ(begun, 1);
  EXPECT_LE(answered, 2 * 5u + 1);
  ASSERT_TRUE(loop_->has_keeping());
  loop_->keep();
  EXPECT_TRUE(loop_->has_turn());
  keeps_ = true;
  EXPECT_TRUE(ask(1000)) << "it goes on";
  EXPECT_GE(begun, 2);
}

TEST_F(LoopTest, after_a_snapshot_it_tidies_until_that_is_done_and_an_error_of_it_is_only_said) {
  begin();
  LoopOptions options;
  options.snapshot_every = 5;
  options.begin_snapshot = snapshots_of(*open_);
  int pieces = 0;
  options.tidy = [&]() -> base::Result<bool> {
    ++pieces;
    if (pieces < 3) return true;
    if (pieces == 3) return false;
    return base::Error(base::ErrorCode::kCorrupt, "a blob is damaged");
  };
  std::vector<std::string> troubles;
  options.trouble = [&](const base::Error& error) { troubles.push_back(error.to_string()); };
  start(std::move(options));
  for (std::size_t i = 0; i < 7; ++i) ask(i);
  EXPECT_EQ(pieces, 3);
  for (std::size_t i = 7; i < 14; ++i) ask(i);
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_NE(troubles[0].find("a blob is damaged"), std::string::npos) << troubles[0];
  EXPECT_FALSE(loop_->failure().has_value());
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
    hand_.listens->report(kernel::ProgressArrived{hand_.held.front(), sequence, "step", payload});
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
  EXPECT_EQ(kernel::tick_of(reader->next().take()->bytes).take().time_ns, last + 1'000'000'000)
      << "a second after it began";
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

TEST_F(LoopTest, an_executor_that_keeps_time_limits_by_itself_is_left_alone) {
  hand_.keeps_limits = true;
  begin();
  start();
  ask(1);
  clock_.advance_ns(2 * kLimit);
  run();
  EXPECT_EQ(ends(), Ends{});
}

}  // namespace
}  // namespace holdfast::node
