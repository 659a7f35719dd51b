// SPDX-License-Identifier: Apache-2.0
#include "node/blob_shapes.h"

#include <gtest/gtest.h>

#include "node/testing_world.h"

namespace holdfast::node {
namespace {

class BlobShapesTest : public testing::LabWorldTest {
 protected:
  store::GcProgress collect() {
    auto gc = store::BlobGc::begin(open_->blobs(), open_->snapshots(), blob_shapes()).take();
    for (;;) {
      const auto progress = gc->step(100);
      EXPECT_TRUE(progress) << progress.error().to_string();
      if (!progress || progress->done) return progress ? *progress : store::GcProgress{};
    }
  }
};

TEST_F(BlobShapesTest, a_collection_leaves_every_kept_snapshot_whole) {
  begin();
  for (int round = 0; round < 5; ++round) {
    send_many(150);
    for (std::size_t i = 1; i < sent_; i += 7) send("order-" + std::to_string(i), 3);
    take_snapshot();
  }
  const base::Bytes document =
      kernel::testing::document(kernel::testing::lab(kernel::testing::kToNumbered));
  tick(kernel::Propose{document, "another route"});
  take_snapshot();
  const store::GcProgress done = collect();
  EXPECT_GT(done.removed, 50u);
  EXPECT_GT(done.marked, 50u);

  // Everything that is left is needed, and everything that is needed is left.
  EXPECT_EQ(*open_->blobs().count(), done.marked);
  EXPECT_EQ(collect().removed, 0u);
  const base::Bytes before = state();
  for (const store::SnapshotEntry& entry : open_->snapshots().list().take()) {
    const base::Bytes bytes = open_->blobs().get(entry.hash).take();
    StoreBlobs blobs(open_->blobs());
    auto world = kernel::World::restore(machines_, blobs, bytes);
    ASSERT_TRUE(world) << world.error().to_string();
    for (std::size_t i = 1; i <= sent_; ++i) {
      const auto key = kernel::testing::value("\"order-" + std::to_string(i) + "\"");
      ASSERT_NE(*world->find("lab/Keyed@1", key), nullptr) << i;
    }
    std::uint64_t intents = 0;
    ASSERT_TRUE(world->visit_intents([&](const base::Hash&, const kernel::Intent&) {
      ++intents;
      return true;
    }));
    EXPECT_EQ(intents, world->open_intents());
    EXPECT_EQ(*world->snapshot(), bytes);
  }
  open();
  EXPECT_TRUE(open_->restoring().left_out.empty());
  EXPECT_EQ(state(), before);
}

TEST_F(BlobShapesTest, a_running_world_keeps_what_it_put_since_its_snapshot) {
  begin();
  send_many(50);
  take_snapshot();
  send_many(50);
  const base::Bytes before = state();  // writes the index, without a snapshot that names it
  collect();
  EXPECT_EQ(state(), before);
  for (std::size_t i = 1; i <= sent_; ++i) {
    const auto key = kernel::testing::value("\"order-" + std::to_string(i) + "\"");
    ASSERT_NE(*open_->world().find("lab/Keyed@1", key), nullptr) << i;
  }
  take_snapshot();
  collect();
  open();
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace holdfast::node
