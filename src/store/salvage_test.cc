// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include <gmock/gmock.h>

#include "env/crash.h"
#include "store/testing_disks.h"
#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SalvageTest : public ::testing::Test {
 protected:
  void write(std::size_t records) {
    auto open = *world_.open();
    for (std::size_t i = 0; i < records; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1, 3000));
    ASSERT_TRUE(open->journal().close());
  }
  base::Result<SalvageReport> run() {
    const auto random = env::seeded_random(8);
    const auto process = env::posix_process();
    return salvage(world_.disk(), *random, *process, "./world", "./new", tree_shapes());
  }
  void expect_records(RecordNumber first, RecordNumber last) {
    const auto random = env::seeded_random(8);
    auto open = open_world(world_.disk(), *random, "./new", small_segments());
    ASSERT_TRUE(open) << open.error().to_string();
    EXPECT_EQ((*open)->journal().first(), first);
    EXPECT_EQ((*open)->journal().last(), last);
    const auto records = read_all((*open)->journal(), first);
    ASSERT_TRUE(records) << records.error().to_string();
    for (std::size_t i = 0; i < records->size(); ++i)
      EXPECT_EQ((*records)[i], record_text(first + i, 3000));
    // It is a journal like others.
    ASSERT_TRUE(commit_batch((*open)->journal(), 1));
    EXPECT_EQ((*open)->journal().durable(), last + 1);
  }

  SimWorld world_;
};

TEST_F(SalvageTest, records_keep_their_numbers_where_earlier_ones_were_trimmed) {
  write(40);
  {
    auto open = *world_.open();
    ASSERT_TRUE(open->journal().trim(20));
    ASSERT_GT(open->journal().first(), 10u);
    ASSERT_TRUE(open->journal().close());
  }
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->lost.records, IsEmpty());
  EXPECT_EQ(report->last, 40u);
  expect_records(report->first, 40);
}

TEST_F(SalvageTest, what_a_recovery_wrote_again_is_taken_once) {
  write(2);
  {
    auto open = *world_.open();
    ASSERT_TRUE(commit_batch(open->journal(), 1, 3000));
    ASSERT_TRUE(append_batch(open->journal(), 1, 3000));
  }
  { auto open = *world_.open(); }  // finds a record that may not be durable
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->lost.bytes, IsEmpty());
  EXPECT_THAT(report->aside, IsEmpty());
  expect_records(1, 4);
}

TEST_F(SalvageTest, every_flipped_byte_loses_what_it_says_and_nothing_else) {
  write(9);
  env::DiskState state = world_.disk().now();
  std::size_t damaged_ones = 0;
  for (const auto& [path, inode] : state.names) {
    if (!path.ends_with(".log")) continue;
    for (std::size_t at = 0; at < state.files[inode].size(); at += 331) {
      SCOPED_TRACE(path + " at " + std::to_string(at));
      env::DiskState damaged = state;
      damaged.files[inode][at] ^= 0x40;
      env::SimDisk disk(damaged);
      const auto random = env::seeded_random(8);
      const auto process = env::posix_process();
      const auto report = salvage(disk, *random, *process, "./world", "./new", tree_shapes());
      ASSERT_TRUE(report) << report.error().to_string();
      std::uint64_t accounted = report->last + 1 - report->first;
      if (report->lost.bytes.empty()) {  // behind the batches of a full segment
        EXPECT_EQ(accounted, 9u);
        continue;
      }
      ++damaged_ones;
      ASSERT_EQ(report->lost.bytes.size(), 1u);
      EXPECT_EQ(report->lost.bytes[0].path, path);
      EXPECT_LE(report->lost.bytes[0].begin, at);
      EXPECT_GT(report->lost.bytes[0].end, at);
      // Of those that were there, each is in the journal, aside, or lost; but nobody can count what
      // was in a last segment without a header.
      for (const auto& aside : report->aside) accounted += aside.last - aside.first + 1;
      for (const auto& lost : report->lost.records) accounted += lost.last - lost.first + 1;
      if (at >= kBlockBytes) {
        EXPECT_EQ(accounted, 9u);
      }
    }
  }
  EXPECT_GT(damaged_ones, 80u);
}

TEST_F(SalvageTest, a_place_that_the_device_cannot_read_loses_what_is_there_and_no_more) {
  write(9);  // four to a segment, each a block
  const std::string path = "./world/journal/000000000001.log";
  for (std::uint64_t block = 0; block <= 5; ++block) {
    for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{3}}) {
      SCOPED_TRACE(std::to_string(blocks) + " from " + std::to_string(block));
      SimWorld copy(world_.disk().now());
      FrontDisk disk(copy.disk());
      disk.break_bytes(path, block * kBlockBytes + 1000, (block + blocks) * kBlockBytes - 1000);
      const auto random = env::seeded_random(8);
      const auto process = env::posix_process();
      const auto report = salvage(disk, *random, *process, "./world", "./new", tree_shapes());
      ASSERT_TRUE(report) << report.error().to_string();
      std::uint64_t kept = report->last + 1 - report->first;
      for (const auto& aside : report->aside) kept += aside.last - aside.first + 1;
      const std::uint64_t last_lost = std::min<std::uint64_t>(block + blocks - 1, 4);
      EXPECT_EQ(kept, block == 0 ? 5 : 9 - (std::max(last_lost + 1, block) - block));
    }
  }
}

TEST_F(SalvageTest, however_many_segments_there_are_few_files_are_open) {
  write(200);
  FrontDisk disk(world_.disk());
  const auto random = env::seeded_random(8);
  const auto process = env::posix_process();
  const auto report = salvage(disk, *random, *process, "./world", "./new", tree_shapes());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->last, 200u);
  EXPECT_LT(disk.most_open(), 12u);
}

TEST_F(SalvageTest, a_last_segment_that_is_gone_is_named) {
  write(9);
  ASSERT_TRUE(world_.disk().remove("./world/journal/000000000003.log"));
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->last, 8u);
  ASSERT_EQ(report->lost.bytes.size(), 1u);
  EXPECT_EQ(report->lost.bytes[0].path, "./world/journal/000000000003.log");
}

// Snapshots before records 11, 21, 31 and 41, of which the last two are kept, and five records.
class SalvageSnapshotsTest : public SalvageTest {
 protected:
  void SetUp() override {
    const auto random = env::seeded_random(8);
    auto open = *open_snapshots(world_.disk(), *random);
    for (std::size_t state = 0; state < 4; ++state) {
      for (int i = 0; i < 9; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1, 3000));
      ASSERT_TRUE(add_tree(*open, state));
    }
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1, 3000));
    ASSERT_TRUE(open->journal().close());
  }

  // The new world has these snapshots, whole, and of its journal.
  void expect_snapshots(const std::vector<RecordNumber>& expected) {
    const auto random = env::seeded_random(8);
    auto open = *open_snapshots(world_.disk(), *random, "./new");
    std::vector<RecordNumber> found;
    for (const SnapshotEntry& entry : open->snapshots->list().take()) {
      found.push_back(entry.next_record);
      const auto bytes = open->snapshots->read(open->journal(), entry);
      EXPECT_TRUE(bytes) << bytes.error().to_string();
      const auto walked = walk(*open->blobs, {entry.hash, kNode});
      EXPECT_TRUE(walked) << walked.error().to_string();
    }
    EXPECT_EQ(found, expected);
  }

  // Damages the batch of a record.
  void lose(RecordNumber record) {
    const base::Bytes text = [&] {
      const std::string whole = record_text(record, 100);
      return base::Bytes(whole.begin(), whole.end());
    }();
    env::DiskState state = world_.disk().now();
    std::size_t hits = 0;
    for (auto& [path, inode] : state.names) {
      if (!path.ends_with(".log")) continue;
      base::Bytes& bytes = state.files[inode];
      const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
      if (found == bytes.end()) continue;
      *found ^= 1;
      ++hits;
    }
    ASSERT_EQ(hits, 1u);
    world_ = SimWorld(std::move(state));
  }

  // Changes a blob that the snapshot with this root reaches, or the root itself.
  void damage_blob(base::ByteView part) {
    env::DiskState state = world_.disk().now();
    base::Bytes& bytes = state.files[state.names.at("./world/blobs.db")];
    const auto found = std::search(bytes.begin(), bytes.end(), part.begin(), part.end());
    ASSERT_NE(found, bytes.end());
    found[5] ^= 1;
    world_ = SimWorld(std::move(state));
  }
};

TEST_F(SalvageSnapshotsTest, are_taken_along_with_all_that_they_reach) {
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_EQ(report->snapshots.size(), 2u);
  EXPECT_EQ(report->snapshots[0].left_out, "");
  EXPECT_EQ(report->last, 45u);
  expect_snapshots({41, 31});
}

TEST_F(SalvageSnapshotsTest, what_is_lost_before_the_newest_one_is_not_needed) {
  lose(35);
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->first, 36u);
  EXPECT_EQ(report->last, 45u);
  ASSERT_EQ(report->aside.size(), 1u);
  EXPECT_EQ(report->aside[0].last, 34u);
  EXPECT_THAT(report->snapshots[1].left_out, HasSubstr("a newer one is whole"));
  expect_snapshots({41});
}

TEST_F(SalvageSnapshotsTest, one_whose_last_record_is_lost_is_left_out) {
  lose(42);
  {
    const auto report = run();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->last, 41u);
    expect_snapshots({41, 31});
  }
}

TEST_F(SalvageSnapshotsTest, one_that_is_not_whole_is_left_out_and_the_one_before_it_serves) {
  const auto random = env::seeded_random(8);
  base::Bytes newest;
  {
    auto open = *open_snapshots(world_.disk(), *random);
    const auto entries = open->snapshots->list().take();
    newest = open->blobs->get(entries.front().hash).take();
  }
  damage_blob(base::ByteView(newest).first(30));
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->snapshots[0].left_out, HasSubstr("the blob is damaged"));
  EXPECT_EQ(report->snapshots[1].left_out, "");
  EXPECT_EQ(report->last, 45u);
  expect_snapshots({31});
}

TEST_F(SalvageSnapshotsTest, blobs_that_are_no_database_are_said_to_be_lost) {
  env::DiskState state = world_.disk().now();
  state.files[state.names.at("./world/blobs.db")].assign(5000, 7);
  world_ = SimWorld(std::move(state));
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->snapshots, IsEmpty());
  ASSERT_EQ(report->lost.bytes.size(), 1u);
  EXPECT_EQ(report->lost.bytes[0].path, "./world/blobs.db");
  EXPECT_EQ(report->last, 45u);
}

TEST_F(SalvageSnapshotsTest, the_old_world_stays_as_it_is) {
  const env::DiskState before = world_.disk().now();
  ASSERT_TRUE(run());
  for (const auto& [path, inode] : before.names) {
    ASSERT_TRUE(world_.disk().now().names.contains(path)) << path;
    EXPECT_EQ(world_.disk().now().files.at(inode), before.files.at(inode)) << path;
  }
}

// Of blobs that workflows put, the file counts the numbers, and that count may be damaged.
TEST_F(SalvageTest, blobs_are_found_whatever_the_file_says_of_their_number) {
  for (const std::string last : {"0", "1", "4611686018427387904"}) {
    SCOPED_TRACE(last);
    const auto random = env::seeded_random(8);
    world_ = SimWorld();
    write(3);
    {
      auto open = *open_world(world_.disk(), *random, "./world", small_segments());
      const auto blobs = BlobStore::open(open->folder, kEffectBlobs).take();
      for (std::size_t i = 0; i < 20; ++i) ASSERT_TRUE(blobs->put(blob_bytes(i)));
      ASSERT_TRUE(blobs->sync());
      ASSERT_TRUE(blobs->database().run("UPDATE sqlite_sequence SET seq = " + last));
    }
    const auto report = run();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->effect_blobs, 20u);
    EXPECT_THAT(report->lost.bytes, IsEmpty());
  }
}

TEST_F(SalvageTest, one_that_is_interrupted_is_no_world) {
  write(9);
  const std::size_t begin = world_.disk().operations().size();
  ASSERT_TRUE(run());
  std::size_t refused = 0;
  for (std::size_t at = begin; at <= world_.disk().operations().size(); ++at) {
    SCOPED_TRACE(at);
    env::SimDisk after(
        env::after_crash(world_.disk().start(), world_.disk().operations(), env::Crash{.at = at}));
    const auto names = after.list("./new/journal");
    if (!names || names->empty()) continue;
    const auto random = env::seeded_random(8);
    const auto open = open_world(after, *random, "./new", small_segments());
    if (open) {
      EXPECT_TRUE(env::read_file(after, "./new/SALVAGED", 1 << 20));
      EXPECT_EQ((*open)->journal().last(), 9u);
      continue;
    }
    ++refused;
    EXPECT_EQ(open.error().code(), base::ErrorCode::kConflict);
    EXPECT_THAT(open.error().message(), HasSubstr("half of a salvage"));
  }
  EXPECT_GT(refused, 5u);
  EXPECT_THAT(run().error().to_string(), HasSubstr("./new: is there already"));
}

}  // namespace
}  // namespace holdfast::store::testing
