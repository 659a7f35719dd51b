// SPDX-License-Identifier: Apache-2.0
#include "store/blob_gc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

class BlobGcTest : public ::testing::Test {
 protected:
  void SetUp() override { open_ = *open_snapshots(disk_, *random_); }

  bool is_there(const base::Hash& hash) { return open_->blobs->get(hash).has_value(); }
  base::Hash put(std::string_view text) { return *open_->blobs->put(base::as_bytes(text)); }
  void expect_all_whole() {
    for (const SnapshotEntry& entry : open_->snapshots->list().take()) {
      const auto whole = walk(*open_->blobs, {entry.hash, kNode});
      EXPECT_TRUE(whole) << whole.error().to_string();
    }
  }
  std::unique_ptr<BlobGc> begin() {
    return *BlobGc::begin(*open_->blobs, *open_->snapshots, tree_shapes());
  }
  static void finish(BlobGc& gc) {
    while (!gc.step(2)->done) continue;
  }

  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
  std::unique_ptr<OpenSnapshots> open_;
};

TEST_F(BlobGcTest, removes_what_no_snapshot_reaches_and_nothing_else) {
  const base::Hash unused = put("unused");
  for (std::size_t state = 0; state < 5; ++state) ASSERT_TRUE(add_tree(*open_, state));
  const std::uint64_t before = *open_->blobs->count();
  const auto done = collect(*open_);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_GT(done->removed, 3u);
  EXPECT_GT(done->removed_bytes, done->removed * 30);
  EXPECT_EQ(*open_->blobs->count(), before - done->removed);
  EXPECT_EQ(done->looked_at, before);
  EXPECT_FALSE(is_there(unused));
  expect_all_whole();
  EXPECT_EQ(collect(*open_)->removed, 0u);
}

TEST_F(BlobGcTest, without_a_snapshot_everything_is_kept) {
  const base::Hash hash = put("abc");
  ASSERT_TRUE(open_->blobs->sync());
  EXPECT_EQ(collect(*open_)->removed, 0u);
  EXPECT_TRUE(is_there(hash));
}

TEST_F(BlobGcTest, what_was_put_since_the_last_snapshot_is_spared_new_or_not) {
  const base::Hash old = put("old");
  const base::Hash garbage = put("garbage");
  ASSERT_TRUE(add_tree(*open_, 0));
  put("old");
  const base::Hash fresh = put("fresh");
  auto gc = begin();
  EXPECT_FALSE(gc->step(1)->done);
  const base::Hash during = put("during");
  finish(*gc);
  EXPECT_TRUE(is_there(old));
  EXPECT_TRUE(is_there(fresh));
  EXPECT_TRUE(is_there(during));
  EXPECT_FALSE(is_there(garbage));
  ASSERT_TRUE(add_tree(*open_, 1));  // which names none of them
  ASSERT_TRUE(collect(*open_));
  EXPECT_FALSE(is_there(old));
  EXPECT_FALSE(is_there(fresh));
  EXPECT_FALSE(is_there(during));
}

TEST_F(BlobGcTest, snapshots_may_come_and_go_while_it_runs) {
  ASSERT_TRUE(add_tree(*open_, 0));
  const base::Hash returning = put("returning");
  ASSERT_TRUE(add_tree(*open_, 1));
  auto gc = begin();
  EXPECT_FALSE(gc->step(1)->done);
  for (std::size_t state = 2; state < 6; ++state) {
    put("returning");
    ASSERT_TRUE(add_tree(*open_, state));
    gc->step(1).take();
  }
  finish(*gc);
  EXPECT_TRUE(is_there(returning));
  expect_all_whole();
}

TEST_F(BlobGcTest, a_pinned_snapshot_stays_whole) {
  const SnapshotEntry pinned = *add_tree(*open_, 0);
  const Snapshots::Pin pin(*open_->snapshots, pinned.number);
  for (std::size_t state = 1; state < 5; ++state) ASSERT_TRUE(add_tree(*open_, state));
  ASSERT_TRUE(collect(*open_));
  const auto whole = walk(*open_->blobs, {pinned.hash, kNode});
  EXPECT_TRUE(whole) << whole.error().to_string();
}

// A leaf whose bytes are those of a node: how a blob is read is for those who name it to say.
TEST_F(BlobGcTest, a_blob_may_be_read_in_two_ways) {
  const base::Hash below = put("below");
  const base::Bytes node = node_bytes({{below, BlobReference::kPlain}});
  const base::Hash both = *open_->blobs->put(node);
  for (const bool plain_first : {false, true}) {
    std::vector<BlobReference> top = {{both, BlobReference::kPlain}, {both, kNode}};
    if (plain_first) std::ranges::reverse(top);
    ASSERT_TRUE(commit_batch(open_->journal(), 1));
    ASSERT_TRUE(open_->snapshots->add(open_->journal(), open_->journal().durable() + 1,
                                      node_bytes(top), 0, 1));
    ASSERT_TRUE(collect(*open_));
    EXPECT_TRUE(is_there(below));
  }
}

TEST_F(BlobGcTest, nothing_is_removed_when_a_snapshot_is_not_whole) {
  const base::Hash garbage = put("garbage");
  const base::Hash missing = base::sha256(base::as_bytes("missing"));
  ASSERT_TRUE(commit_batch(open_->journal(), 1));
  ASSERT_TRUE(open_->snapshots->add(open_->journal(), 2,
                                    node_bytes({{missing, BlobReference::kPlain}}), 0));
  const auto done = collect(*open_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), base::ErrorCode::kNotFound);
  EXPECT_EQ(done.error().where(), missing.to_text());
  EXPECT_TRUE(is_there(garbage));
  put("missing");
  ASSERT_TRUE(open_->blobs->sync());
  EXPECT_TRUE(collect(*open_)) << "the store goes on";
}

TEST_F(BlobGcTest, one_that_was_overtaken_or_has_ended_does_nothing_more) {
  for (std::size_t state = 0; state < 3; ++state) ASSERT_TRUE(add_tree(*open_, state));
  auto first = begin();
  EXPECT_FALSE(first->step(5)->done);
  auto second = begin();
  EXPECT_EQ(first->step(5).error().code(), base::ErrorCode::kConflict);
  finish(*second);
  EXPECT_EQ(second->step(5).error().code(), base::ErrorCode::kConflict);
  expect_all_whole();
}

TEST_F(BlobGcTest, marks_of_one_that_did_not_end_are_not_used) {
  ASSERT_TRUE(add_tree(*open_, 0));
  ASSERT_TRUE(add_tree(*open_, 1));
  auto interrupted = begin();
  EXPECT_FALSE(interrupted->step(8)->done);
  interrupted.reset();
  for (std::size_t state = 2; state < 4; ++state) ASSERT_TRUE(add_tree(*open_, state));
  const std::uint64_t before = *open_->blobs->count();
  EXPECT_GT(collect(*open_)->removed, 0u);
  EXPECT_LT(*open_->blobs->count(), before);
  expect_all_whole();
}

TEST_F(BlobGcTest, space_that_was_freed_is_used_again) {
  std::uint64_t largest = 0;
  for (std::size_t round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < 50; ++i)
      put(std::to_string(round) + std::string(2000, 'x') + std::to_string(i));
    ASSERT_TRUE(add_tree(*open_, round));
    ASSERT_TRUE(collect(*open_, 1000));
    // The pages of the database, wherever they are: the log holds the last ones.
    const std::uint64_t bytes = *open_->blobs->file_bytes();
    if (round == 15) largest = bytes;
    if (round > 15) {
      ASSERT_LE(bytes, largest * 3 / 2);
    }
  }
}

}  // namespace
}  // namespace holdfast::store::testing
