// SPDX-License-Identifier: Apache-2.0
// Snapshots that a loop takes: when, how its work goes on meanwhile, and what becomes of failures.
#include <gtest/gtest.h>

#include "node/testing_loop.h"

namespace holdfast::node {
namespace {

using kernel::testing::value;
using testing::LoopTest;

TEST_F(LoopTest, a_snapshot_is_taken_after_so_many_records_all_of_them_durable) {
  begin();
  std::vector<std::uint64_t> taken_at;
  LoopOptions options;
  options.snapshots.every = 10;
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

TEST_F(LoopTest, inputs_are_taken_while_most_of_a_snapshot_is_written_ahead) {
  begin();
  send_many(3000);
  LoopOptions options;
  options.snapshots.every = 10;
  options.behind_snapshot = 3000;
  bool has_begun = false;
  options.begin_snapshot = [&](std::uint64_t) -> base::Result<FinishSnapshot> {
    has_begun = true;
    return FinishSnapshot([] { return base::Result<store::RecordNumber>(1); });
  };
  start(std::move(options));
  int turns = 0;
  int answered = 0;
  for (; !has_begun && turns < 1000; ++turns) {
    const base::Bytes event = value(R"({"id":"o-1","n":1})");
    ASSERT_TRUE(loop_->send(Input::event({"lab/Go@1", event, {}}),
                            [&](const kernel::Answer&) { answered += !has_begun; }));
    ASSERT_TRUE(loop_->has_turn());
    loop_->turn();
    loop_->write();
    loop_->release();
  }
  EXPECT_TRUE(has_begun);
  EXPECT_GE(turns, 5) << "not all of it at once";
  EXPECT_GE(answered, turns - 2) << "and nobody waits for the end of it";
}

TEST_F(LoopTest, a_snapshot_that_finds_no_room_is_put_off_and_said_so) {
  begin();
  LoopOptions options;
  options.snapshots.every = 2;
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
  options.snapshots.every = 10;
  options.behind_snapshot = 31;
  int troubles = 0;
  options.begin_snapshot = snapshots_of(*open_);
  options.trouble = [&](const base::Error&) { ++troubles; };
  start(std::move(options));
  run();
  EXPECT_FALSE(loop_->failure().has_value());
  EXPECT_EQ(troubles, 1);
}

// There is no snapshot on a full disk that could let go of them later.
TEST_F(LoopTest, on_a_full_disk_what_was_held_for_a_reader_goes_when_nobody_reads_it_any_more) {
  begin();
  send_many(100);
  auto pin = open_->journal().pin(0);
  take_snapshot();
  send_many(1);
  take_snapshot();  // so that none needs the first records
  ASSERT_GT(open_->journal().first(), 1u);
  ASSERT_EQ(open_->journal().first_on_disk(), 1u);
  start();
  disk_->set_capacity(used());
  std::size_t taken = 1000;
  while (taken < 10'000 && ask(taken)) ++taken;
  ASSERT_EQ(refusal_, "the disk is full");

  const auto look_for_room = [this] {
    clock_.advance_ns(kSecond);
    while (loop_->has_preparing()) loop_->prepare();
    run();
  };
  look_for_room();
  EXPECT_EQ(open_->journal().first_on_disk(), 1u) << "somebody reads it";
  EXPECT_FALSE(ask(taken));
  pin.reset();
  look_for_room();
  EXPECT_EQ(open_->journal().first_on_disk(), open_->journal().first());
  look_for_room();
  EXPECT_TRUE(ask(taken));
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
  options.snapshots.every = 5;
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
  options.snapshots.every = 5;
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

// Answers wait for the batch, and nothing waits for what is written ahead.
TEST_F(LoopTest, a_batch_is_given_to_the_journal_before_anything_is_written_ahead) {
  begin();
  send_many(3000);
  LoopOptions options;
  options.snapshots.every = 10;
  options.behind_snapshot = 3000;
  options.written_at_once = 0;
  options.begin_snapshot = snapshots_of(*open_);
  bool was_given = false;
  std::size_t asked = 0;
  options.has_much_ahead = [&] {
    // It is asked before the part of this turn is written, and after it.
    if (asked++ == 1) was_given = loop_->has_writing();
    return false;
  };
  options.is_crowded_ahead = [] { return false; };
  options.write_blobs_ahead = [] { return base::Result<void>(); };
  start(std::move(options));
  const base::Bytes event = value(R"({"id":"o-1","n":1})");
  ASSERT_TRUE(loop_->send(Input::event({"lab/Go@1", event, {}}), [](const kernel::Answer&) {}));
  const std::size_t dirty = open_->world().dirty_cells();
  loop_->turn();
  EXPECT_EQ(asked, 2u);
  EXPECT_LT(open_->world().dirty_cells(), dirty);
  EXPECT_TRUE(was_given);
}

TEST_F(LoopTest, many_blobs_are_written_beside_it_before_the_snapshot_begins) {
  begin();
  send_many(3000);
  StoreBlobs& blobs = open_->kernel_blobs();
  LoopOptions options;
  options.snapshots.every = 10;
  options.behind_snapshot = 3000;
  bool is_writing = false;
  int written = 0;
  bool has_begun = false;
  options.begin_snapshot = [&](std::uint64_t now_ns) {
    EXPECT_FALSE(is_writing) << "what is written now must be listed with this snapshot";
    has_begun = true;
    return snapshots_of(*open_)(now_ns);
  };
  options.has_much_ahead = [&] { return !has_begun && open_->world().dirty_cells() < 2000; };
  options.is_crowded_ahead = [&] { return written == 1; };
  options.write_blobs_ahead = [&] {
    ++written;
    return blobs.write_waiting();
  };
  start(std::move(options));
  for (int i = 0; i < 1000 && !has_begun; ++i) {
    loop_->turn();
    loop_->write();
    loop_->release();
    is_writing = loop_->has_keeping();
    if (i % 3 != 0) continue;  // whoever keeps is slow
    loop_->keep();
    is_writing = false;
  }
  EXPECT_TRUE(has_begun) << "though there is always more to write";
  EXPECT_GE(written, 2);
  EXPECT_GT(blobs.written_bytes(), 0u);
  run();
  const base::Bytes before = state();
  loop_.reset();
  open();
  EXPECT_TRUE(open_->restoring().snapshot.has_value());
  EXPECT_EQ(state(), before);
}

TEST_F(LoopTest, blobs_that_cannot_be_written_ahead_end_it_unless_there_is_no_room) {
  for (const auto code : {base::ErrorCode::kUnavailable, base::ErrorCode::kIo}) {
    begin();
    send_many(100);
    LoopOptions options;
    options.snapshots.every = 10;
    options.behind_snapshot = 100;
    options.begin_snapshot = snapshots_of(*open_);
    int tried = 0;
    options.has_much_ahead = [] { return true; };
    options.is_crowded_ahead = [] { return false; };
    options.write_blobs_ahead = [&]() -> base::Result<void> {
      ++tried;
      return base::Error(code, "the blobs cannot be written");
    };
    start(std::move(options));
    ask(1000);
    EXPECT_EQ(loop_->failure().has_value(), code == base::ErrorCode::kIo);
    EXPECT_EQ(tried, 1) << "the snapshot says that there is no room";
    loop_.reset();
  }
}

TEST_F(LoopTest, an_idle_world_takes_a_snapshot_before_it_is_due) {
  begin();
  LoopOptions options;
  options.snapshots = {.every = 1000, .share = 0.5, .idle_every = 5};
  int begun = 0;
  options.begin_snapshot = [&](std::uint64_t) -> base::Result<FinishSnapshot> {
    ++begun;
    return FinishSnapshot([] { return base::Result<store::RecordNumber>(1); });
  };
  start(std::move(options));
  for (std::size_t i = 0; i < 8; ++i) ask(i);
  EXPECT_EQ(begun, 0);
  clock_.advance_ns(kSecond);
  run();
  EXPECT_EQ(begun, 1);
  clock_.advance_ns(kSecond);
  run();
  EXPECT_EQ(begun, 1) << "nothing has happened since";
}

}  // namespace
}  // namespace holdfast::node
