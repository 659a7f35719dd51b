// SPDX-License-Identifier: Apache-2.0
// A disk that is full, to the byte, at every point of a piece of work. Everybody says kUnavailable,
// nothing is lost, and the same objects go on when there is room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/journal_files.h"
#include "store/testing_faults.h"
#include "store/testing_history.h"
#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

using base::ErrorCode;

std::uint64_t used_on(const env::SimDisk& disk) {
  std::uint64_t used = 0;
  for (const auto& [name, file] : disk.now().names) used += disk.now().files.at(file).size();
  return used;
}

// Makes the world by `prepare`, then does `work` on it with more and more room, until there is
// enough at once. Gives how often there was not.
template <class World>
int with_too_little_room(std::uint64_t step,
                         const std::function<std::unique_ptr<World>(env::SimDisk&)>& prepare,
                         const std::function<base::Result<void>(World&)>& work,
                         const std::function<void(env::SimDisk&)>& check) {
  for (int refused = 0; refused < 1000; ++refused) {
    SCOPED_TRACE("refused " + std::to_string(refused));
    env::SimDisk disk;
    auto world = prepare(disk);
    disk.set_capacity(used_on(disk) + step * static_cast<std::uint64_t>(refused));
    const auto done = work(*world);
    if (!done) {
      EXPECT_EQ(done.error().code(), ErrorCode::kUnavailable) << done.error().to_string();
      // Again, to no better end.
      const auto again = work(*world);
      EXPECT_TRUE(again || again.error().code() == ErrorCode::kUnavailable);
      disk.set_capacity(std::nullopt);
      const auto at_last = work(*world);
      EXPECT_TRUE(at_last) << at_last.error().to_string();
    }
    env::SimDisk after(after_worst_cut(disk));
    check(after);
    if (done || ::testing::Test::HasFailure()) return refused;
  }
  ADD_FAILURE() << "there is never enough room";
  return 0;
}

std::unique_ptr<OpenSnapshots> three_snapshots(env::SimDisk& disk) {
  const auto random = env::seeded_random(3);
  auto open = open_snapshots(disk, *random).take();
  for (std::size_t state = 0; state < 3; ++state) EXPECT_TRUE(add_tree(*open, state));
  EXPECT_TRUE(commit_batch(open->journal(), 1, 700));
  return open;
}

// Every snapshot that is listed is whole, and the newest one is of this record.
void expect_snapshots(env::SimDisk& disk, std::size_t count, RecordNumber newest) {
  const auto random = env::seeded_random(4);
  auto open = open_snapshots(disk, *random);
  ASSERT_TRUE(open) << open.error().to_string();
  const auto entries = *(*open)->snapshots->list();
  ASSERT_EQ(entries.size(), count);
  EXPECT_EQ(entries.front().next_record, newest);
  for (const SnapshotEntry& entry : entries) {
    const auto whole = walk(*(*open)->blobs, {entry.hash, kNode});
    EXPECT_TRUE(whole) << whole.error().to_string();
  }
}

TEST(FullDisk, a_snapshot_is_taken_when_there_is_room) {
  const int refused = with_too_little_room<OpenSnapshots>(
      3000, three_snapshots,
      [](OpenSnapshots& open) -> base::Result<void> {
        const base::Bytes root = TRY(put_tree(*open.blobs, 30));
        TRY(open.snapshots->add(open.journal(), open.journal().durable() + 1, root, 0));
        return {};
      },
      [](env::SimDisk& disk) { expect_snapshots(disk, 2, 5); });
  EXPECT_GT(refused, 2);
}

TEST(FullDisk, a_snapshot_leaves_the_list_when_there_is_room) {
  const auto prepare = [](env::SimDisk& disk) {
    { three_snapshots(disk); }
    const auto random = env::seeded_random(5);
    return open_snapshots(disk, *random).take();  // without a log that has room in it
  };
  const int refused = with_too_little_room<OpenSnapshots>(
      1000, prepare,
      [](OpenSnapshots& open) -> base::Result<void> {
        const auto entries = TRY(open.snapshots->list());
        return entries.size() == 1 ? base::Result<void>() : open.snapshots->forget({entries[0]});
      },
      [](env::SimDisk& disk) { expect_snapshots(disk, 1, 3); });
  EXPECT_GT(refused, 1);
}

TEST(FullDisk, a_collection_ends_and_another_one_succeeds_when_there_is_room) {
  const auto prepare = [](env::SimDisk& disk) {
    { three_snapshots(disk); }
    const auto random = env::seeded_random(5);
    return open_snapshots(disk, *random).take();
  };
  const int refused = with_too_little_room<OpenSnapshots>(
      3000, prepare,
      [](OpenSnapshots& open) -> base::Result<void> {
        TRY(collect(open));
        return {};
      },
      [](env::SimDisk& disk) { expect_snapshots(disk, 2, 4); });
  EXPECT_GT(refused, 1);
}

TEST(FullDisk, history_goes_on_when_there_is_room) {
  const MadeUpHistory history(60);
  const int refused = with_too_little_room<OpenHistory>(
      3000,
      [&](env::SimDisk& disk) {
        const auto random = env::seeded_random(3);
        auto open = open_history(disk, *random).take();
        EXPECT_TRUE(history.feed(*open->index, 20));
        return open;
      },
      [&](OpenHistory& open) { return history.feed(*open.index, history.last()); },
      [&](env::SimDisk& disk) {
        const auto random = env::seeded_random(4);
        auto open = open_history(disk, *random);
        ASSERT_TRUE(open) << open.error().to_string();
        EXPECT_EQ((*open)->index->cursor().record, history.last());
      });
  EXPECT_GT(refused, 2);
}

// From nothing: folder, journal and blobs.
TEST(FullDisk, a_new_world_is_refused_until_there_is_room) {
  int refused = 0;
  for (std::uint64_t capacity = 0;; capacity += 2000, ++refused) {
    SCOPED_TRACE(capacity);
    env::SimDisk disk;
    disk.set_capacity(capacity);
    const auto random = env::seeded_random(3);
    const auto open = open_snapshots(disk, *random);
    if (open) break;
    ASSERT_EQ(open.error().code(), ErrorCode::kUnavailable) << open.error().to_string();
    disk.set_capacity(std::nullopt);
    const auto at_last = open_snapshots(disk, *random);
    ASSERT_TRUE(at_last) << at_last.error().to_string();
  }
  EXPECT_GT(refused, 10);
}

// Also after a death, which leaves a log and a batch in doubt.
TEST(FullDisk, a_world_that_is_there_opens_on_it) {
  for (const bool in_order : {true, false}) {
    auto disk = std::make_unique<env::SimDisk>();
    auto open = three_snapshots(*disk);
    while (open->journal().prepare() && !open->journal().has_room(Room::kReserve)) {
    }
    ASSERT_TRUE(open->journal().prepare());
    auto after = disk->after_process_death();
    if (in_order) {
      ASSERT_TRUE(open->journal().close());
      open.reset();
      after = disk->after_process_death();
    }
    after->set_capacity(used_on(*after));
    const auto random = env::seeded_random(6);
    const auto again = open_snapshots(*after, *random);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ((*again)->snapshots->list()->size(), 2u);
  }
}

// A long batch that found no room is followed by a short one, and the segment is left behind.
TEST(FullDisk, what_a_write_without_room_left_in_a_segment_is_no_damage) {
  for (const bool ends_there : {false, true}) {
    SimWorld world;
    auto open = *world.open({.segment_bytes = 16 * 4096});
    Journal& journal = open->journal();
    world.disk().fail_call(0, env::DiskFault::kNoSpace);  // half of it arrives
    ASSERT_FALSE(append_batch(journal, 1, 40'000));
    if (!ends_there) {
      ASSERT_TRUE(commit_batch(journal, 1));
    }
    ASSERT_TRUE(commit_batch(journal, 1, ends_there ? 62'000 : 58'000)) << "in the next segment";
    ASSERT_TRUE(journal.close());
    const auto looked = JournalFiles::open(open->folder);
    ASSERT_TRUE(looked) << looked.error().to_string();
    ASSERT_EQ(looked->segment_count(), 2u);
    EXPECT_FALSE(looked->torn_tail().has_value());
    const auto rests = looked->rests();
    ASSERT_TRUE(rests) << rests.error().to_string();
    for (const JournalFiles::Rest& rest : *rests)
      ADD_FAILURE() << rest.bytes.path << " from " << rest.bytes.begin << " to " << rest.bytes.end;
  }
}

// The same at the end of a journal that is closed in order.
TEST(FullDisk, what_a_write_without_room_left_is_not_taken_for_torn_when_the_journal_was_closed) {
  SimWorld world;
  {
    auto open = *world.open({.segment_bytes = 16 * 4096});
    world.disk().fail_call(0, env::DiskFault::kNoSpace);
    ASSERT_FALSE(append_batch(open->journal(), 1, 40'000));
    ASSERT_TRUE(commit_batch(open->journal(), 1));
    ASSERT_TRUE(open->journal().close());
  }
  const auto again = world.open({.segment_bytes = 16 * 4096});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_TRUE((*again)->report().was_clean);
  EXPECT_FALSE((*again)->report().torn.has_value());
}

// Each call of the trimming fails for lack of space, once.
TEST(FullDisk, trimming_goes_on_when_there_is_room) {
  for (const bool has_spares : {false, true}) {
    int refused = 0;
    int stopped = 0;
    for (std::uint64_t call = 0; call < 20; ++call) {
      SCOPED_TRACE(call);
      SimWorld world;
      auto open = *world.open();
      Journal& journal = open->journal();
      for (int i = 0; i < 20; ++i) ASSERT_TRUE(commit_batch(journal, 1, 3000));
      for (int i = 0; has_spares && i < 5; ++i) ASSERT_TRUE(journal.prepare());
      world.disk().fail_call(call, env::DiskFault::kNoSpace);
      const auto trimmed = journal.trim(15);
      const RecordNumber first = journal.first();
      EXPECT_TRUE(trimmed || has_spares || call > 0) << "what finds no new name is removed";
      if (!trimmed && trimmed.error().code() != ErrorCode::kUnavailable) {
        ++stopped;  // a sync failed: that ends a journal
        continue;
      }
      const auto kept = read_all(journal, first);
      ASSERT_TRUE(kept) << kept.error().to_string();
      EXPECT_EQ(first + kept->size() - 1, 20u);
      if (!trimmed) {
        ++refused;
        EXPECT_TRUE(commit_batch(journal, 1, 3000));
        ASSERT_TRUE(journal.trim(15));
        EXPECT_GT(journal.first(), first);
      }
      SimWorld after(after_worst_cut(world.disk()));
      const auto reopened = after.open();
      ASSERT_TRUE(reopened) << reopened.error().to_string();
      EXPECT_EQ((*reopened)->journal().first(), journal.first());
    }
    EXPECT_GT(stopped, 1);
    EXPECT_GT(refused, 0);
  }
}

}  // namespace
}  // namespace holdfast::store::testing
