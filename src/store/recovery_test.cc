// SPDX-License-Identifier: Apache-2.0
#include "store/recovery.h"

#include <algorithm>

#include "store/testing.h"
#include "store/testing_disks.h"
#include "store/testing_faults.h"
#include "store/torn_files.h"

namespace holdfast::store::testing {
namespace {

const std::string kFolder = "./world/journal";

std::unique_ptr<OpenWorld> opened(SimWorld& world, JournalOptions options = small_segments()) {
  auto open = world.open(options);
  EXPECT_TRUE(open) << open.error().to_string();
  return std::move(*open);
}

base::Bytes& contents(env::DiskState& state, const std::string& path) {
  return state.files.at(state.names.at(path));
}

TEST(Recovery, torn_tail_is_cut_kept_and_reported) {
  SimWorld world;
  {
    auto open = opened(world);
    ASSERT_TRUE(commit_batch(open->journal(), 1));
    ASSERT_TRUE(append_batch(open->journal(), 1, 6000));
  }
  env::DiskState state = world.disk().now();
  base::Bytes& segment = contents(state, kFolder + "/000000000001.log");
  ASSERT_NE(segment[3 * kBlockBytes], 0);  // the second block of the batch that was not synced
  std::fill_n(segment.begin() + 3 * kBlockBytes, 512, std::uint8_t{0});
  const base::Bytes torn(segment.begin() + 2 * kBlockBytes, segment.begin() + 4 * kBlockBytes);

  SimWorld after(state);
  auto open = opened(after);
  EXPECT_EQ(open->journal().durable(), 1u);
  EXPECT_FALSE(open->report().was_clean);
  ASSERT_TRUE(open->report().torn);
  EXPECT_EQ(open->report().torn->segment, kFolder + "/000000000001.log");
  EXPECT_EQ(open->report().torn->offset, 2 * kBlockBytes);
  EXPECT_EQ(open->report().torn->bytes, 2 * kBlockBytes);
  EXPECT_EQ(*env::read_file(after.disk(), open->report().torn->kept_in, 1 << 20), torn);
  EXPECT_EQ(open->report().torn->older_removed, 0u);
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  EXPECT_EQ(read_all(open->journal())->size(), 2u);
}

// A spare holds nothing, so a world does without one that the device cannot read.
TEST(Recovery, a_spare_that_cannot_be_read_is_removed_and_reported) {
  env::SimDisk disk;
  const auto random = env::seeded_random(7);
  {
    auto open = open_world(disk, *random, "./world", small_segments()).take();
    ASSERT_TRUE(open->journal().prepare());
    ASSERT_TRUE(commit_batch(open->journal(), 1));
    ASSERT_TRUE(open->journal().close());
  }
  std::string spare;
  for (const std::string& name : disk.list(kFolder).take())
    if (name.starts_with("spare-")) spare = kFolder + "/" + name;
  ASSERT_FALSE(spare.empty());
  FrontDisk front(disk);
  front.break_bytes(spare, 8192, 8193);
  const auto again = open_world(front, *random, "./world", small_segments());
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ((*again)->report().unusable_spares, std::vector<std::string>{spare});
  EXPECT_EQ(disk.now().names.count(spare), 0u);
  EXPECT_EQ((*again)->journal().durable(), 1u);
  EXPECT_NE(describe((*again)->report()).find(spare), std::string::npos);
}

TEST(Recovery, a_spare_that_is_no_file_stays_and_its_name_is_not_used) {
  PosixWorld world;
  ASSERT_TRUE(world.open());
  const std::string folder = world.path() + "/journal/spare-7";
  const auto disk = env::posix_disk();
  ASSERT_TRUE(disk->make_directory(folder));
  const auto open = world.open();
  ASSERT_TRUE(open) << open.error().to_string();
  EXPECT_EQ((*open)->report().unusable_spares, std::vector<std::string>{folder});
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(commit_batch((*open)->journal(), 1, 3000));
  EXPECT_TRUE(disk->list(folder));
}

TEST(Recovery, is_described_in_one_line_with_its_figures) {
  EXPECT_EQ(describe({}), "");
  RecoveryReport report;
  report.was_clean = false;
  report.copied_records = 2;
  report.copied_bytes = 8192;
  report.torn = RecoveryReport::TornTail{"j/1.log", 4096, 512, "j/torn-1-4096", 1};
  report.unusable_spares = {"j/spare-3"};
  EXPECT_EQ(describe(report),
            "recovery: journal was not closed: copied 2 records (8192 bytes) into a new segment; "
            "cut 512 torn bytes off j/1.log at 4096, copy in j/torn-1-4096, removed 1 older copy "
            "file; spare segment j/spare-3 cannot be used; it holds nothing");
}

TEST(Recovery, of_what_was_torn_the_newest_few_copies_are_kept) {
  SimWorld world;
  { auto open = opened(world); }
  for (std::uint64_t segment = 1; segment <= kTornFilesKept + 4; ++segment)
    ASSERT_TRUE(env::replace_file(world.disk(), kFolder + "/" + torn_name(segment, 4096), {}));
  ASSERT_TRUE(env::replace_file(world.disk(), kFolder + "/torn-by-hand", {}));
  ASSERT_EQ(*remove_old_torn_files(world.disk(), kFolder), 4u);
  ASSERT_EQ(*remove_old_torn_files(world.disk(), kFolder), 0u);
  std::vector<std::string> kept;
  for (const std::string& name : world.disk().list(kFolder).take()) {
    if (name.starts_with("torn-")) kept.push_back(name);
  }
  EXPECT_EQ(kept.size(), kTornFilesKept + 1);
  EXPECT_EQ(std::ranges::count(kept, torn_name(4, 4096)), 0);
  EXPECT_EQ(std::ranges::count(kept, torn_name(5, 4096)), 1);
  EXPECT_EQ(std::ranges::count(kept, "torn-by-hand"), 1) << "what is not ours stays";
}

TEST(Recovery, bad_batch_with_a_batch_behind_it_is_refused_and_nothing_is_changed) {
  SimWorld world;
  {
    auto open = opened(world);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1));
  }
  env::DiskState state = world.disk().now();
  contents(state, kFolder + "/000000000001.log")[2 * kBlockBytes + 100] ^= 1;
  SimWorld after(state);
  const auto open = after.open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_EQ(open.error().where(), kFolder + "/000000000001.log at 8192");
  EXPECT_EQ(after.disk().now().files, state.files);
}

// What is behind is torn itself; that it was begun is enough.
TEST(Recovery, bad_batch_with_a_torn_batch_behind_it_is_refused) {
  SimWorld world;
  {
    auto open = opened(world);
    ASSERT_TRUE(commit_batch(open->journal(), 1));
    ASSERT_TRUE(append_batch(open->journal(), 1, 3000));
  }
  env::DiskState state = world.disk().now();
  base::Bytes& segment = contents(state, kFolder + "/000000000001.log");
  segment[1 * kBlockBytes + 200] ^= 1;
  segment[2 * kBlockBytes + 2000] ^= 1;
  const auto open = SimWorld(state).open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().where(), kFolder + "/000000000001.log at 4096");
}

// Every segment in turn is the last one, closed or not.
TEST(Recovery, journal_without_its_last_segment_is_refused) {
  for (const bool closes : {true, false}) {
    for (int batches = 5; batches < 20; ++batches) {
      SimWorld world;
      {
        auto open = opened(world);
        for (int i = 0; i < batches; ++i) {
          ASSERT_TRUE(commit_batch(open->journal(), 1));
          if (i % 3 == 0) {
            ASSERT_TRUE(open->journal().mark());
          }
        }
        if (closes) {
          ASSERT_TRUE(open->journal().close());
        }
      }
      env::DiskState state = world.disk().now();
      std::uint64_t last = 1;
      while (state.names.contains(segment_path(kFolder, last + 1))) ++last;
      ASSERT_GT(last, 1u);
      state.names.erase(segment_path(kFolder, last));
      const auto open = SimWorld(state).open();
      ASSERT_FALSE(open) << batches;
      EXPECT_EQ(open.error().code(), base::ErrorCode::kCorrupt);
      EXPECT_EQ(open.error().message(),
                "segment " + std::to_string(last) + " comes behind it and is not there");
    }
  }
}

// Two copies of a world went different ways, and a block of one came into the other: its checksum
// is right, and only the chain tells.
TEST(Recovery, batch_of_another_history_is_refused) {
  SimWorld world;
  ASSERT_TRUE(opened(world)->journal().close());
  env::DiskState states[2];
  for (const std::size_t way : {std::size_t{0}, std::size_t{1}}) {
    SimWorld copy(world.disk().now());
    auto open = opened(copy);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1, 100 + way));
    states[way] = copy.disk().now();
  }
  const std::string path = kFolder + "/000000000001.log";
  const base::Bytes& other = contents(states[1], path);
  std::copy_n(other.begin() + 3 * kBlockBytes, kBlockBytes,
              contents(states[0], path).begin() + 3 * kBlockBytes);
  const auto open = SimWorld(states[0]).open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().to_string(),
            path + " at 12288: the batch does not follow the one before it");
}

TEST(Recovery, mark_makes_the_last_batch_unambiguous) {
  for (const bool marked : {false, true}) {
    SimWorld world;
    {
      auto open = opened(world);
      ASSERT_TRUE(commit_batch(open->journal(), 1));
      if (marked) {
        ASSERT_TRUE(open->journal().mark());
      }
    }
    env::DiskState state = world.disk().now();
    contents(state, kFolder + "/000000000001.log")[kBlockBytes + 200] ^= 1;
    EXPECT_EQ(SimWorld(state).open().has_value(), !marked);
  }
}

// Linux drops what a failed sync should have saved, shows it to readers, and lets the next sync
// succeed. Only writing the bytes again saves them.
TEST(Recovery, what_a_failed_sync_dropped_is_written_again_before_it_is_shown) {
  SimWorld world;
  {
    auto open = opened(world);
    ASSERT_TRUE(commit_batch(open->journal(), 1));
    ASSERT_TRUE(append_batch(open->journal(), 1));
    world.disk().fail_call(0, env::DiskFault::kIoError);
    ASSERT_FALSE(open->journal().sync());
  }
  {
    auto open = opened(world);
    EXPECT_EQ(open->journal().durable(), 2u);
    EXPECT_EQ(open->report().copied_records, 1u);
  }
  SimWorld after(after_worst_cut(world.disk()));
  EXPECT_EQ(read_all(opened(after)->journal())->size(), 2u);
}

TEST(Recovery, damage_to_what_was_written_again_is_refused) {
  SimWorld world;
  ASSERT_TRUE(commit_batch(opened(world)->journal(), 1));
  EXPECT_EQ(opened(world)->report().copied_records, 1u);
  env::DiskState state = world.disk().now();
  contents(state, kFolder + "/000000000002.log")[kBlockBytes + 200] ^= 1;
  const auto open = SimWorld(state).open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().where(), kFolder + "/000000000002.log at 4096");
}

TEST(Recovery, closed_journal_goes_on_in_the_same_segment) {
  SimWorld world;
  for (int i = 0; i < 30; ++i) {
    auto open = opened(world);
    EXPECT_TRUE(open->report().was_clean);
    ASSERT_TRUE(open->journal().close());
  }
  auto open = opened(world);
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  EXPECT_FALSE(world.disk().now().names.contains(kFolder + "/000000000002.log"));
}

TEST(Recovery, deaths_do_not_fill_the_disk) {
  SimWorld world;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(commit_batch(opened(world)->journal(), 1));
  std::uint64_t used = 0;
  for (const auto& [name, file] : world.disk().now().names)
    used += world.disk().now().files.at(file).size();
  EXPECT_LT(used, 50 * 2 * kBlockBytes + 4 * small_segments().segment_bytes);
}

TEST(Recovery, segment_of_another_world_is_refused) {
  PosixWorld world;
  PosixWorld other;
  ASSERT_TRUE((*world.open())->journal().close());
  ASSERT_TRUE((*other.open())->journal().close());
  std::filesystem::copy_file(other.path() + "/journal/000000000001.log",
                             world.path() + "/journal/000000000001.log",
                             std::filesystem::copy_options::overwrite_existing);
  const auto open = world.open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_EQ(open.error().message(), "the segment is of another journal");
}

TEST(Recovery, missing_segment_in_the_middle_is_refused) {
  SimWorld world;
  {
    auto open = opened(world);
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1));
  }
  auto state = world.disk().now();
  ASSERT_TRUE(state.names.contains(kFolder + "/000000000003.log"));
  state.names.erase(kFolder + "/000000000002.log");
  const auto open = SimWorld(state).open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().to_string(),
            kFolder + "/000000000003.log at 0: segment 2 comes before it and is not there");
}

TEST(Recovery, world_without_its_journal_is_refused) {
  SimWorld world;
  ASSERT_TRUE(opened(world)->journal().close());
  auto state = world.disk().now();
  state.names.erase(kFolder + "/000000000001.log");
  const auto open = SimWorld(state).open();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code(), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace holdfast::store::testing
