// SPDX-License-Identifier: Apache-2.0
// What the loop does with its journal besides writing batches: it marks it in quiet moments, trims
// it, and ends when the world is not its own any more.
#include <gmock/gmock.h>

#include "node/testing_journal.h"
#include "node/testing_loop.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Counts marks and notes what is trimmed; the first few trims find no room.
class WatchedJournal : public testing::JournalAround {
 public:
  using JournalAround::JournalAround;
  base::Result<void> mark() override {
    ++marks;
    if (marks_without_room > 0) {
      --marks_without_room;
      return base::Error(base::ErrorCode::kUnavailable, "no room for a mark");
    }
    return JournalAround::mark();
  }
  base::Result<void> trim(store::RecordNumber below) override {
    trims.push_back(below);
    if (trims_without_room == 0) return {};
    --trims_without_room;
    return base::Error(base::ErrorCode::kUnavailable, "no room to trim");
  }

  int marks = 0;
  int marks_without_room = 0;
  int trims_without_room = 0;
  std::vector<store::RecordNumber> trims;
};

class LoopJournalTest : public testing::LoopTest {
 protected:
  void start_watched(LoopOptions options = {}) {
    begin();
    watched_.emplace(open_->journal());
    options.trouble = [this](const base::Error& error) { troubles_.push_back(error.to_string()); };
    loop_.emplace(open_->world(), *watched_, clock_, *random_, Executors{{"worker", &hand_}},
                  std::move(options));
    ASSERT_TRUE(loop_->recover());
    look_for_room();
  }
  void look_for_room() {
    clock_.advance_ns(kSecond);
    while (loop_->has_preparing()) loop_->prepare();
  }
  void pass_ms(std::int64_t ms) {
    clock_.advance_ns(ms * 1'000'000);
    run();
  }

  std::optional<WatchedJournal> watched_;
  std::vector<std::string> troubles_;
};

TEST_F(LoopJournalTest, a_journal_that_was_quiet_for_a_moment_is_marked_once) {
  start_watched();
  ask(1);
  EXPECT_FALSE(loop_->has_writing()) << "more may come";
  pass_ms(50);
  ask(2);
  pass_ms(50);
  EXPECT_EQ(watched_->marks, 0) << "not so soon after the last batch";
  pass_ms(60);
  EXPECT_EQ(watched_->marks, 1);
  const std::uint64_t calls = disk_->changing_calls();
  for (int i = 0; i < 10; ++i) pass_ms(3'600'000);
  EXPECT_EQ(watched_->marks, 1) << "then it rests";
  EXPECT_EQ(disk_->changing_calls(), calls);
  ask(3);
  pass_ms(200);
  EXPECT_EQ(watched_->marks, 2);
}

// Behind a mark a damaged batch is known to have been durable.
TEST_F(LoopJournalTest, damage_to_the_last_batch_after_a_quiet_moment_is_refused) {
  begin();
  start();
  ask(1);
  clock_.advance_ns(kSecond);
  run();
  auto next = disk_->after_process_death();
  loop_.reset();
  open_.reset();
  disk_ = std::move(next);
  const auto segment =
      disk_->open("./world/journal/000000000001.log", env::OpenMode::kReadWrite).take();
  base::Bytes bytes(segment->size().take());
  ASSERT_TRUE(env::read_all(*segment, 0, bytes));
  const std::string_view id = "o-1";
  const auto found = std::find_end(bytes.begin(), bytes.end(), id.begin(), id.end());
  ASSERT_NE(found, bytes.end());
  *found ^= 1;
  ASSERT_TRUE(env::write_all(*segment, 0, bytes));
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("000000000001.log at "));
  EXPECT_THAT(opened.error().message(), HasSubstr("a batch was written behind it"));
}

TEST_F(LoopJournalTest, a_mark_that_finds_no_room_is_tried_again_when_there_is_some) {
  start_watched();
  watched_->marks_without_room = 1;
  ask(1);
  pass_ms(200);
  EXPECT_EQ(watched_->marks, 1);
  EXPECT_FALSE(loop_->failure().has_value());
  pass_ms(200);
  EXPECT_EQ(watched_->marks, 1) << "the disk is full";
  look_for_room();
  run();
  EXPECT_EQ(watched_->marks, 2);
}

TEST_F(LoopJournalTest, a_trim_that_found_no_room_is_tried_again_and_said_once) {
  LoopOptions options;
  options.snapshots.every = 5;
  std::uint64_t taken = 0;
  options.begin_snapshot = [&](std::uint64_t) -> base::Result<FinishSnapshot> {
    ++taken;
    return FinishSnapshot([&]() -> base::Result<store::RecordNumber> { return taken + 100; });
  };
  start_watched(std::move(options));
  watched_->trims_without_room = 2;
  std::size_t next = 0;
  while (taken == 0) ask(next++);
  for (int i = 0; i < 4; ++i) ask(next++);
  EXPECT_EQ(taken, 1u);
  EXPECT_THAT(watched_->trims, ElementsAre(101, 101, 101)) << "until it is done, and no longer";
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_EQ(troubles_[0], "the journal cannot be trimmed yet: no room to trim");
}

// What was held for a reader, and then found no room to go, is not forgotten either.
TEST_F(LoopJournalTest, on_a_full_disk_it_trims_up_to_where_the_last_snapshot_allows) {
  LoopOptions options;
  options.snapshots.every = 5;
  std::uint64_t taken = 0;
  options.begin_snapshot = [&](std::uint64_t) -> base::Result<FinishSnapshot> {
    ++taken;
    return FinishSnapshot([]() -> base::Result<store::RecordNumber> { return 77; });
  };
  start_watched(std::move(options));
  std::size_t next = 0;
  while (taken == 0) ask(next++);
  ask(next++);
  EXPECT_THAT(watched_->trims, ElementsAre(77));
  disk_->set_capacity(used());
  while (next < 10'000 && ask(next)) ++next;
  ASSERT_EQ(refusal_, "the disk is full");
  watched_->trims.clear();
  look_for_room();
  run();
  EXPECT_THAT(watched_->trims, ElementsAre(77));
}

TEST_F(LoopJournalTest, a_loop_whose_lock_was_removed_ends_and_answers_nobody) {
  begin();
  LoopOptions options;
  std::vector<std::string> ended;
  options.ended = [&](const base::Error& error) { ended.push_back(error.to_string()); };
  start(std::move(options));
  ASSERT_TRUE(ask(1));
  const store::RecordNumber before = open_->journal().durable();
  ASSERT_TRUE(disk_->remove("./world/LOCK"));
  EXPECT_FALSE(ask(2));
  EXPECT_EQ(open_->journal().durable(), before);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_THAT(ended[0], HasSubstr("LOCK"));
  EXPECT_THAT(ended[0], HasSubstr("another process may have locked it"));
  EXPECT_FALSE(loop_->send(Input::go_on(), nullptr));
}

}  // namespace
}  // namespace holdfast::node
