// SPDX-License-Identifier: Apache-2.0
#include "node/restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/references.h"
#include "node/testing_world.h"
#include "store/record_at.h"
#include "store/testing_snapshots.h"

namespace holdfast::node {
namespace {

using ::testing::HasSubstr;
using testing::LabWorldTest;

class RestoreTest : public LabWorldTest {
 protected:
  // Makes a blob disappear, behind everybody's back.
  void lose(const base::Hash& hash) {
    auto remove = open_->blobs().database().prepare("DELETE FROM blobs WHERE hash = ?1").take();
    remove.bind(1, base::ByteView(hash.bytes));
    remove.step().take();
    open_->blobs().sync().take();
  }
  void damage(const base::Hash& hash) {
    auto change =
        open_->blobs().database().prepare("UPDATE blobs SET bytes = x'00' WHERE hash = ?1").take();
    change.bind(1, base::ByteView(hash.bytes));
    change.step().take();
    open_->blobs().sync().take();
  }
  store::SnapshotEntry newest() { return open_->snapshots().list().take().front(); }

  // The nodes of the cell index that the newest snapshot names.
  std::vector<base::Hash> roots_of_newest() {
    std::vector<base::Hash> roots;
    const base::Bytes bytes = open_->blobs().get(newest().hash).take();
    for (const auto& each : kernel::references_of(kernel::BlobKind::kSnapshot, bytes).take()) {
      if (each.kind == kernel::BlobKind::kCellIndex) roots.push_back(each.hash);
    }
    return roots;
  }

  // At one of the calls of opening the disk is full when useless snapshots would be taken off the
  // list.
  void open_without_room_to_forget() {
    const std::unique_ptr<env::SimDisk> before_opening = disk_->after_process_death();
    for (std::uint64_t call = 0; !open_ || !open_->restoring().still_listed; ++call) {
      ASSERT_LT(call, 200u);
      open_.reset();
      disk_ = before_opening->after_process_death();
      disk_->fail_call(call, env::DiskFault::kNoSpace);
      auto opened = try_open();
      if (opened) open_ = std::move(*opened);
    }
  }
};

TEST_F(RestoreTest, a_new_world_is_empty) {
  open();
  EXPECT_EQ(open_->world().next_record(), 1u);
  EXPECT_FALSE(open_->restoring().snapshot);
  EXPECT_EQ(open_->restoring().replayed, 0u);
}

TEST_F(RestoreTest, without_a_snapshot_everything_is_replayed) {
  begin();
  send_many(20);
  const base::Bytes before = state();
  open();
  EXPECT_EQ(open_->restoring().replayed, 21u);
  EXPECT_EQ(state(), before);
}

TEST_F(RestoreTest, a_snapshot_and_the_records_behind_it_are_the_world) {
  begin();
  send_many(20);
  take_snapshot();
  send_many(5);
  const base::Bytes before = state();
  open();
  EXPECT_EQ(open_->restoring().snapshot->next_record, 22u);
  EXPECT_EQ(open_->restoring().replayed, 5u);
  EXPECT_TRUE(open_->restoring().left_out.empty());
  EXPECT_EQ(open_->world().latest_ns(), now_s_ * 1'000'000'000);
  EXPECT_EQ(state(), before);
}

TEST_F(RestoreTest, the_journal_is_trimmed_below_the_oldest_snapshot_only) {
  begin();
  send_many(40);
  take_snapshot();
  EXPECT_EQ(open_->journal().first(), 1u) << "one snapshot is not enough to fall back on";
  send_many(40);
  take_snapshot();
  const store::RecordNumber first = open_->journal().first();
  EXPECT_GT(first, 20u);
  EXPECT_LE(first, 41u) << "record 41 tells the lineage of the older snapshot";
  send_many(40);
  ASSERT_TRUE(open_->take_snapshot(1, {.keep = 2, .readers_need = 45}));
  EXPECT_LE(open_->journal().first(), 45u);
  EXPECT_GE(open_->journal().first(), first);
}

TEST_F(RestoreTest, after_trimming_every_kept_snapshot_leads_to_the_same_world) {
  begin();
  for (int round = 0; round < 6; ++round) {
    send_many(30);
    take_snapshot();
  }
  send_many(3);
  EXPECT_GT(open_->journal().first(), 100u);
  const base::Bytes before = state();
  ASSERT_TRUE(open_->snapshots().forget({newest()}));
  open();
  EXPECT_EQ(open_->restoring().replayed, 33u);
  EXPECT_EQ(state(), before);
}

TEST_F(RestoreTest, a_snapshot_that_lost_its_bytes_or_a_root_gives_way_to_the_one_before) {
  for (const bool lose_root : {false, true}) {
    for (const bool only_damage : {false, true}) {
      disk_ = std::make_unique<env::SimDisk>();
      begin();
      send_many(40);
      take_snapshot();
      send_many(7);
      take_snapshot();
      const base::Bytes before = state();
      const store::SnapshotEntry bad = newest();
      const base::Hash hash = lose_root ? roots_of_newest().at(0) : bad.hash;
      only_damage ? damage(hash) : lose(hash);
      open();
      const RestoreReport& report = open_->restoring();
      EXPECT_EQ(report.snapshot->next_record, 42u);
      EXPECT_EQ(report.replayed, 7u);
      ASSERT_EQ(report.left_out.size(), 1u);
      EXPECT_EQ(report.left_out[0].snapshot.number, bad.number);
      EXPECT_THAT(report.left_out[0].why, HasSubstr(hash.to_text()));
      EXPECT_EQ(state(), before);
      EXPECT_EQ(newest().next_record, 42u) << "what is of no use is not kept";

      // What was lost or damaged is put anew, so the next snapshot is whole.
      take_snapshot();
      open();
      EXPECT_EQ(open_->restoring().replayed, 0u);
      EXPECT_EQ(state(), before);
      open_.reset();
    }
  }
}

TEST_F(RestoreTest, a_full_disk_keeps_a_useless_snapshot_listed_and_the_world_opens) {
  begin();
  send_many(40);
  take_snapshot();
  send_many(7);
  take_snapshot();
  const base::Bytes before = state();
  lose(newest().hash);
  open_.reset();
  open_without_room_to_forget();
  EXPECT_EQ(open_->restoring().left_out.size(), 1u);
  EXPECT_EQ(state(), before);
  open();
  EXPECT_EQ(open_->restoring().left_out.size(), 1u);
  EXPECT_FALSE(open_->restoring().still_listed);
  EXPECT_EQ(newest().next_record, 42u);
}

// Two are kept. If one of them is of no use, damage to the other is the end of the world.
TEST_F(RestoreTest, a_useless_snapshot_that_is_still_listed_does_not_displace_a_good_one) {
  begin();
  send_many(40);
  take_snapshot();
  send_many(7);
  take_snapshot();
  lose(newest().hash);
  open_.reset();
  open_without_room_to_forget();
  send_many(5);
  take_snapshot();
  EXPECT_FALSE(open_->restoring().still_listed);
  std::vector<std::uint64_t> kept;
  const auto listed = open_->snapshots().list().take();
  for (const auto& entry : listed) kept.push_back(entry.next_record);
  EXPECT_EQ(kept, (std::vector<std::uint64_t>{54, 42}));
}

// A part of the index that only replay comes to need.
TEST_F(RestoreTest, a_blob_that_replay_misses_makes_it_begin_further_back) {
  begin();
  send_many(100);
  take_snapshot();
  send_many(100);
  take_snapshot();
  const base::Bytes root = open_->blobs().get(roots_of_newest().at(0)).take();
  const auto below = kernel::references_of(kernel::BlobKind::kCellIndex, root).take();
  for (std::size_t i = 1; i <= 200; ++i) send("order-" + std::to_string(i), 5);
  const base::Bytes before = state();
  for (const auto& each : below) lose(each.hash);
  open();
  EXPECT_EQ(open_->restoring().left_out.size(), 1u);
  EXPECT_THAT(open_->restoring().left_out[0].why, HasSubstr("record "));
  EXPECT_EQ(open_->restoring().replayed, 300u);
  EXPECT_EQ(state(), before);
}

TEST_F(RestoreTest, without_a_good_snapshot_a_whole_journal_is_enough) {
  begin();
  send_many(10);
  take_snapshot();
  const base::Bytes before = state();
  lose(newest().hash);
  open();
  EXPECT_FALSE(open_->restoring().snapshot);
  EXPECT_EQ(open_->restoring().replayed, 11u);
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(open_->snapshots().list()->empty());
}

TEST_F(RestoreTest, without_a_good_snapshot_a_trimmed_journal_is_refused) {
  begin();
  for (int round = 0; round < 3; ++round) {
    send_many(40);
    take_snapshot();
  }
  for (const store::SnapshotEntry& entry : open_->snapshots().list().take()) lose(entry.hash);
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("no snapshot can be used"));
  EXPECT_THAT(opened.error().to_string(), HasSubstr("the snapshot before record 122: sha256:"));
  EXPECT_THAT(opened.error().to_string(), HasSubstr("the snapshot before record 82: sha256:"));
}

// Acknowledged records are gone: to go on from what is left must be somebody's decision.
TEST_F(RestoreTest, a_journal_that_ends_before_its_snapshot_is_refused) {
  begin();
  send_many(10);
  take_snapshot();
  open_.reset();
  const env::DiskState before = disk_->now();
  open();
  send_many(10);
  take_snapshot();
  open_.reset();
  disk_ = std::make_unique<env::SimDisk>(store::testing::with_blobs_of(before, disk_->now()));
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_NE(opened.error().message().find("the journal ends with record 11, but ./world/blobs.db "
                                          "knows record 21"),
            std::string::npos)
      << opened.error().to_string();
}

TEST_F(RestoreTest, the_first_record_that_comes_out_differently_is_named) {
  begin();
  send_many(10);
  take_snapshot();
  send_many(10);
  machines_ = {{"keyed", kernel::testing::keep},
               {"numbered", kernel::testing::keep},
               {"single", kernel::testing::keep}};
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("record 12: the outcome of lab/Keyed@1"));
}

TEST_F(RestoreTest, a_snapshot_of_another_version_is_not_taken_for_a_bad_one) {
  begin();
  send_many(10);
  take_snapshot();
  send_many(1);
  base::Bytes bytes = state();
  bytes[4] = 2;  // behind the tag and the head of the list
  ASSERT_TRUE(open_->snapshots().add(open_->journal(), open_->world().next_record(), bytes, 0));
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto opened = try_open();
    ASSERT_FALSE(opened) << "it is still on the list";
    EXPECT_EQ(opened.error().code(), base::ErrorCode::kConflict);
    EXPECT_THAT(opened.error().to_string(), HasSubstr("the snapshot before record 13"));
    EXPECT_THAT(opened.error().to_string(), HasSubstr("version 2"));
  }
}

TEST_F(RestoreTest, a_record_of_another_version_does_not_cost_a_snapshot) {
  begin();
  send_many(10);
  take_snapshot();
  send_many(1);
  base::Bytes record = store::record_at(open_->journal(), open_->journal().last()).take();
  record[4] = 2;
  const base::ByteView view = record;
  ASSERT_TRUE(open_->journal().append({&view, 1}));
  ASSERT_TRUE(open_->journal().sync());
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("record 13: a record is of version 2"));
}

TEST_F(RestoreTest, code_that_is_not_there_is_not_taken_for_a_bad_snapshot) {
  begin();
  send_many(10);
  take_snapshot();
  machines_ = {};
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("no code is there for 'keyed'"));
}

TEST_F(RestoreTest, code_is_held_against_the_world_that_replay_comes_to) {
  begin();
  send("a", 1);
  take_snapshot();
  machines_.unfit = {"keyed"};
  const auto refused = try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(refused.error().to_string(), HasSubstr(R"(lab/Keyed@1 "a": has not ended)"));
  machines_.unfit = {};
  open();
  const base::Bytes key = kernel::testing::value("\"a\"");
  tick(kernel::ControlRequested{kernel::Control::kCancel, "lab/Keyed@1", key, ""});
  const base::Bytes without = kernel::testing::document(kernel::testing::lab_without_keyed());
  tick(kernel::ApplyManifest{without});
  machines_.unfit = {"keyed"};
  open();
}

TEST_F(RestoreTest, a_snapshot_before_its_records_are_durable_is_refused) {
  begin();
  const base::Bytes value = kernel::testing::value(R"({"id":"a","n":1})");
  kernel::Tick tick;
  tick.input = kernel::EventArrived{"lab/Go@1", value, {}};
  const kernel::Outcome outcome = open_->world().reduce(tick);
  const base::ByteView record = outcome.record;
  ASSERT_TRUE(open_->journal().append({&record, 1}));
  const auto refused = open_->take_snapshot(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  ASSERT_TRUE(open_->journal().sync());
  EXPECT_TRUE(open_->take_snapshot(0));
}

TEST_F(RestoreTest, a_world_whose_snapshot_was_not_kept_has_failed) {
  for (std::uint64_t call = 0;; ++call) {
    disk_ = std::make_unique<env::SimDisk>();
    now_s_ = sent_ = 0;
    begin();
    send_many(3);
    disk_->fail_call(call, env::DiskFault::kIoError);
    const auto taken = open_->take_snapshot(0);
    const base::Bytes value = kernel::testing::value(R"({"id":"a","n":1})");
    kernel::Tick tick;
    tick.input = kernel::EventArrived{"lab/Go@1", value, {}};
    EXPECT_EQ(open_->world().reduce(tick).failure.has_value(), !taken.has_value()) << call;
    open_.reset();
    if (taken) {
      EXPECT_GT(call, 3u);
      return;
    }
  }
}

TEST_F(RestoreTest, a_place_that_cannot_keep_a_world_is_refused_unless_somebody_decides_otherwise) {
  disk_->set_file_system(env::file_system_from(0x6969));
  const auto refused = try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("./world: is on a file system (nfs)"));
  EXPECT_TRUE(disk_->list(".")->empty()) << "nothing was made";
  EXPECT_TRUE(LocalWorld::open(*disk_, *random_, *process_, "./world", machines_,
                               {.journal = {}, .world = {}, .any_file_system = true}));
}

TEST_F(RestoreTest, a_second_opening_is_refused) {
  begin();
  const auto second = LocalWorld::open(*disk_, *random_, *process_, "./world", machines_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kConflict);
}

}  // namespace
}  // namespace holdfast::node
