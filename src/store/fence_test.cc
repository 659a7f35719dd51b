// SPDX-License-Identifier: Apache-2.0
// A world whose LOCK, folder or segment is taken away under the process that has it. That process
// acknowledges nothing more, and no other process gets in beside it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// It has ended, with this error, and stays so.
void expect_lost(Journal& journal, const std::string& why) {
  const RecordNumber durable = journal.durable();
  for (int i = 0; i < 2; ++i) {
    const auto refused = append_batch(journal, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
    EXPECT_THAT(refused.error().to_string(), HasSubstr(why));
    EXPECT_THAT(refused.error().to_string(), HasSubstr("nothing more will be acknowledged"));
  }
  EXPECT_FALSE(journal.trim(1));
  EXPECT_FALSE(journal.mark());
  EXPECT_FALSE(journal.close());
  EXPECT_EQ(journal.durable(), durable);
}

TEST(Fence, a_journal_whose_lock_was_removed_writes_nothing_more) {
  SimWorld world;
  auto open = *world.open();
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  ASSERT_TRUE(world.disk().remove("./world/LOCK"));
  const std::uint64_t calls = world.disk().changing_calls();
  expect_lost(open->journal(), "LOCK: the journal has stopped");
  EXPECT_FALSE(open->journal().prepare());
  EXPECT_EQ(world.disk().changing_calls(), calls);
}

TEST(Fence, what_was_written_when_the_lock_went_is_not_acknowledged) {
  SimWorld world;
  auto open = *world.open();
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  ASSERT_TRUE(append_batch(open->journal(), 1));
  ASSERT_TRUE(world.disk().remove("./world/LOCK"));
  const auto synced = open->journal().sync();
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().code(), base::ErrorCode::kConflict);
  EXPECT_EQ(open->journal().durable(), 1u);
}

TEST(Fence, no_other_process_opens_a_world_whose_lock_was_removed) {
  PosixWorld world;
  auto open = *world.open();
  ASSERT_TRUE(fs::remove(world.path() + "/LOCK"));
  const auto second = world.open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(second.error().to_string(), HasSubstr("whose LOCK was removed or replaced"));
  EXPECT_FALSE(fs::exists(world.path() + "/LOCK")) << "the one who is refused leaves no trace";
  expect_lost(open->journal(), "LOCK: the journal has stopped");
  open.reset();
  const auto after = world.open();
  EXPECT_TRUE(after) << after.error().to_string();
}

// Folders cannot be locked there. The first process still notices.
TEST(Fence, on_a_network_file_system_there_is_only_the_lock) {
  SimWorld world;
  world.disk().set_file_system({env::FileSystemKind::kNetwork, "nfs"});
  auto open = *world.open();
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  EXPECT_EQ(world.open().error().code(), base::ErrorCode::kConflict);
  ASSERT_TRUE(world.disk().remove("./world/LOCK"));
  const auto second = world.open();
  ASSERT_TRUE(second) << second.error().to_string();
  expect_lost(open->journal(), "LOCK: the journal has stopped");
}

TEST(Fence, a_lock_that_was_replaced_lets_nobody_in_either) {
  PosixWorld world;
  auto open = *world.open();
  fs::copy_file(world.path() + "/LOCK", world.path() + "/other");
  fs::rename(world.path() + "/other", world.path() + "/LOCK");
  EXPECT_EQ(world.open().error().code(), base::ErrorCode::kConflict);
  expect_lost(open->journal(), "LOCK: the journal has stopped");
}

TEST(Fence, a_world_that_was_moved_is_not_written_under_its_old_name) {
  PosixWorld world;
  auto open = *world.open();
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  const std::string moved = world.path() + "-moved";
  fs::rename(world.path(), moved);
  fs::copy(moved, world.path(), fs::copy_options::recursive);
  {
    auto copy = world.open();
    ASSERT_TRUE(copy) << copy.error().to_string();
    ASSERT_TRUE(commit_batch((*copy)->journal(), 1));
    expect_lost(open->journal(), "LOCK: the journal has stopped");
    ASSERT_TRUE(commit_batch((*copy)->journal(), 1)) << "the copy is another world's business";
  }
  open.reset();
  EXPECT_EQ((*world.open())->journal().durable(), 3u);
}

TEST(Fence, a_segment_that_was_removed_is_not_written_any_more) {
  PosixWorld world;
  auto open = *world.open();
  ASSERT_TRUE(commit_batch(open->journal(), 1));
  ASSERT_TRUE(append_batch(open->journal(), 1));
  fs::rename(world.path() + "/journal", world.path() + "/journal.old");
  const auto synced = open->journal().sync();
  ASSERT_FALSE(synced);
  EXPECT_THAT(synced.error().to_string(), HasSubstr("the segment was removed or replaced"));
  EXPECT_EQ(open->journal().durable(), 1u);
}

}  // namespace
}  // namespace holdfast::store::testing
