// SPDX-License-Identifier: Apache-2.0
#include "store/snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing_faults.h"
#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

using ::testing::HasSubstr;

class SnapshotsTest : public ::testing::Test {
 protected:
  void open() {
    open_.reset();
    auto opened = open_snapshots(*disk_, *random_);
    ASSERT_TRUE(opened) << opened.error().to_string();
    open_ = std::move(*opened);
  }
  void SetUp() override { open(); }

  std::vector<RecordNumber> listed() {
    std::vector<RecordNumber> records;
    for (const SnapshotEntry& entry : open_->snapshots->list().take())
      records.push_back(entry.next_record);
    return records;
  }
  base::Result<SnapshotEntry> add(std::string_view text, std::size_t keep = kSnapshotsKept) {
    return open_->snapshots->add(open_->journal(), open_->journal().last() + 1,
                                 base::as_bytes(text), 5, keep);
  }
  void commit(std::size_t records) { ASSERT_TRUE(commit_batch(open_->journal(), records)); }

  std::unique_ptr<env::SimDisk> disk_ = std::make_unique<env::SimDisk>();
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
  std::unique_ptr<OpenSnapshots> open_;
};

TEST_F(SnapshotsTest, what_was_added_is_there_after_opening_again) {
  EXPECT_TRUE(listed().empty());
  commit(3);
  const SnapshotEntry added = *add("state");
  open();
  const auto entries = *open_->snapshots->list();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].number, added.number);
  EXPECT_EQ(entries[0].next_record, 4u);
  EXPECT_EQ(entries[0].hash, base::sha256(base::as_bytes("state")));
  EXPECT_EQ(entries[0].lineage, base::sha256(base::as_bytes(record_text(3))));
  EXPECT_EQ(entries[0].time_ns, 5);
  EXPECT_EQ(base::as_text(*open_->snapshots->read(open_->journal(), entries[0])), "state");
}

TEST_F(SnapshotsTest, everything_put_before_is_durable_when_it_is_added) {
  commit(1);
  const base::Hash part = *open_->blobs->put(base::as_bytes("part"));
  ASSERT_TRUE(add("state"));
  env::SimDisk after(after_worst_cut(*disk_));
  auto reopened = *open_snapshots(after, *random_);
  ASSERT_EQ(reopened->snapshots->list()->size(), 1u);
  EXPECT_TRUE(reopened->blobs->get(part));
}

TEST_F(SnapshotsTest, the_last_few_are_kept_newest_first) {
  for (int i = 0; i < 5; ++i) {
    commit(1);
    ASSERT_TRUE(add("state " + std::to_string(i)));
  }
  EXPECT_EQ(listed(), (std::vector<RecordNumber>{6, 5}));
  commit(1);
  ASSERT_TRUE(add("one", 1));
  EXPECT_EQ(listed(), (std::vector<RecordNumber>{7}));
}

// Two of the same state are one way back to it, and not two.
TEST_F(SnapshotsTest, one_after_the_same_record_takes_the_place_of_the_one_before) {
  commit(1);
  ASSERT_TRUE(add("older"));
  commit(1);
  ASSERT_TRUE(add("newer"));
  const SnapshotEntry again = *add("newer");
  EXPECT_EQ(listed(), (std::vector<RecordNumber>{3, 2}));
  EXPECT_EQ(open_->snapshots->list()->front().number, again.number);
  EXPECT_EQ(records_needed(*open_->snapshots->list()), 1u);
}

TEST_F(SnapshotsTest, those_after_the_same_record_count_once_for_the_journal_also_when_pinned) {
  commit(5);
  const SnapshotEntry first = *add("state");
  const Snapshots::Pin pin(*open_->snapshots, first.number);
  ASSERT_TRUE(add("state"));
  EXPECT_EQ(listed(), (std::vector<RecordNumber>{6, 6}));
  EXPECT_EQ(records_needed(*open_->snapshots->list()), 1u) << "there is one way back";
}

TEST_F(SnapshotsTest, a_pinned_one_stays_until_nobody_pins_it) {
  commit(1);
  const SnapshotEntry first = *add("first");
  {
    const Snapshots::Pin pin(*open_->snapshots, first.number);
    const Snapshots::Pin again(*open_->snapshots, first.number);
    for (int i = 0; i < 3; ++i) {
      commit(1);
      ASSERT_TRUE(add("later " + std::to_string(i)));
    }
    EXPECT_EQ(listed(), (std::vector<RecordNumber>{5, 4, 2}));
  }
  commit(1);
  ASSERT_TRUE(add("last"));
  EXPECT_EQ(listed(), (std::vector<RecordNumber>{6, 5}));
}

TEST_F(SnapshotsTest, one_ahead_of_the_durable_journal_is_refused) {
  commit(1);
  ASSERT_TRUE(append_batch(open_->journal(), 1));
  const auto refused = add("state");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_TRUE(listed().empty());
}

TEST_F(SnapshotsTest, one_of_a_world_without_records_has_no_lineage) {
  const SnapshotEntry entry = *add("empty");
  EXPECT_EQ(entry.next_record, 1u);
  EXPECT_TRUE(entry.lineage.is_zero());
  EXPECT_TRUE(open_->snapshots->read(open_->journal(), entry));
}

// The journal of the same world, from before the snapshot, as a backup would bring it back.
TEST_F(SnapshotsTest, one_beyond_the_journal_or_of_another_history_is_refused) {
  commit(2);
  ASSERT_TRUE(open_->journal().close());
  open_.reset();
  const env::DiskState before = disk_->now();
  open();
  commit(2);
  ASSERT_TRUE(add("state"));
  ASSERT_TRUE(open_->journal().close());
  open_.reset();
  const env::DiskState after = disk_->now();
  disk_ = std::make_unique<env::SimDisk>(with_blobs_of(before, after));
  const auto refused = open_snapshots(*disk_, *random_);
  ASSERT_FALSE(refused) << "the journal is not even opened";
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);

  // As if the journal had been opened without its blobs.
  disk_ = std::make_unique<env::SimDisk>(before);
  open();
  env::SimDisk newer(after);
  const auto beside = open_snapshots(newer, *random_).take();
  const SnapshotEntry entry = beside->snapshots->list().take().front();
  const auto beyond = open_->snapshots->read(open_->journal(), entry);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(beyond.error().to_string(), HasSubstr("record 3: the journal ends before it"));

  ASSERT_TRUE(commit_batch(open_->journal(), 3, 50));  // others than before
  const auto other = open_->snapshots->read(open_->journal(), entry);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(other.error().to_string(), HasSubstr("record 4: the journal has another record"));
}

TEST_F(SnapshotsTest, forgotten_ones_are_gone) {
  commit(1);
  const SnapshotEntry first = *add("first");
  commit(1);
  ASSERT_TRUE(add("second"));
  ASSERT_TRUE(open_->snapshots->forget({first}));
  open();
  EXPECT_EQ(listed(), (std::vector<RecordNumber>{3}));
}

// A transaction of somebody else comes between the puts and the snapshot that names them.
TEST_F(SnapshotsTest, one_is_not_listed_while_what_it_names_waits_for_room) {
  commit(1);
  const base::Hash part = *open_->blobs->put(base::as_bytes("part"));
  disk_->set_capacity(0);
  const auto collected = BlobGc::begin(*open_->blobs, *open_->snapshots, tree_shapes());
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().code(), base::ErrorCode::kUnavailable);
  const auto refused = add("state");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable) << refused.error().to_string();
  EXPECT_TRUE(listed().empty());
  disk_->set_capacity(std::nullopt);
  ASSERT_TRUE(add("state"));
  env::SimDisk after(after_worst_cut(*disk_));
  auto reopened = *open_snapshots(after, *random_);
  ASSERT_EQ(reopened->snapshots->list()->size(), 1u);
  EXPECT_TRUE(reopened->blobs->get(part));
}

TEST(RecordsNeeded, are_those_of_the_oldest_kept_and_the_one_that_tells_its_lineage) {
  SnapshotEntry newest;
  newest.next_record = 90;
  SnapshotEntry oldest;
  oldest.next_record = 40;
  EXPECT_EQ(records_needed({newest, oldest}), 39u);
  EXPECT_EQ(records_needed({newest}), 1u) << "there is nothing else to fall back on";
  EXPECT_EQ(records_needed({newest}, 1), 89u);
  EXPECT_EQ(records_needed({}), 1u);
  oldest.next_record = 1;
  EXPECT_EQ(records_needed({newest, oldest}), 1u);
}

}  // namespace
}  // namespace holdfast::store::testing
