// SPDX-License-Identifier: Apache-2.0
#include "node/collector.h"

#include "node/testing_world.h"

namespace holdfast::node {
namespace {

class CollectorTest : public testing::LabWorldTest {
 protected:
  // How many pieces it takes until there is nothing left to do.
  int collect() {
    int pieces = 0;
    for (;; ++pieces) {
      const auto more = open_->collector().go_on();
      EXPECT_TRUE(more) << more.error().to_string();
      if (!more || !*more) return pieces;
    }
  }
  std::uint64_t blobs() { return *open_->blobs().count(); }
};

TEST_F(CollectorTest, a_small_file_is_left_alone) {
  begin();
  for (int i = 0; i < 5; ++i) {
    send_many(20);
    take_snapshot();
  }
  const std::uint64_t before = blobs();
  collect();
  EXPECT_EQ(blobs(), before);
}

TEST_F(CollectorTest, what_nobody_needs_goes_and_what_is_put_meanwhile_stays) {
  collect_from_bytes_ = 1;
  begin();
  for (int i = 0; i < 5; ++i) {
    send_many(200);
    take_snapshot();
  }
  const std::uint64_t before = blobs();
  send_many(100);
  const auto begun = open_->begin_snapshot(1);  // in memory, and beside the collection
  ASSERT_TRUE(begun);
  collect();
  EXPECT_LT(blobs(), before);
  ASSERT_TRUE(open_->finish_snapshot(*begun));
  const base::Bytes state_before = state();
  open();
  EXPECT_TRUE(open_->restoring().left_out.empty());
  EXPECT_EQ(open_->restoring().replayed, 0u);
  EXPECT_EQ(state(), state_before);
}

TEST_F(CollectorTest, it_runs_again_only_when_much_was_written) {
  collect_from_bytes_ = 1;
  begin();
  send_many(200);
  take_snapshot();
  take_snapshot();
  collect();
  const std::uint64_t before = blobs();
  send_many(1);
  take_snapshot();
  take_snapshot();
  collect();
  EXPECT_GT(blobs(), before) << "two snapshots more, and little else";
  for (int i = 0; i < 30; ++i) {
    send_many(100);
    take_snapshot();
  }
  const std::uint64_t many = blobs();
  collect();
  EXPECT_LT(blobs(), many);
}

// A blob that a snapshot was the last to bring, though it does not need it, and that is put again
// meanwhile.
TEST_F(CollectorTest, what_is_put_again_while_a_snapshot_is_written_stays) {
  open();
  StoreBlobs blobs(open_->blobs());
  Collector collector(blobs, open_->blobs(), open_->snapshots(), 1);
  const base::Bytes text(3000, 7);
  const base::Hash hash = blobs.put(text).take();
  blobs.begin_writing();
  ASSERT_TRUE(blobs.put(text));
  for (int i = 0; i < 2; ++i) {
    const base::Bytes snapshot = state();
    ASSERT_TRUE(blobs.finish_writing([&]() -> base::Result<void> {
      TRY(open_->snapshots().add(open_->journal(), 1, snapshot, 1));
      return {};
    }));
    for (auto more = collector.go_on(); more && *more;) more = collector.go_on();
    ASSERT_TRUE(blobs.get(hash)) << i;
    blobs.begin_writing();
  }
}

}  // namespace
}  // namespace holdfast::node
