// SPDX-License-Identifier: Apache-2.0
#include "node/store_blobs.h"

#include "base/sha256.h"
#include "node/testing_world.h"

namespace holdfast::node {
namespace {

class StoreBlobsTest : public testing::LabWorldTest {
 protected:
  std::uint64_t used() const {
    std::uint64_t bytes = 0;
    for (const auto& [file, content] : disk_->now().files) bytes += content.size();
    return bytes;
  }
  static base::Result<void> write_all(StoreBlobs& blobs) {
    blobs.begin_writing();
    return blobs.finish_writing([] { return base::Result<void>(); });
  }
  static base::Bytes blob(char filled_with, std::size_t size = 40'000) {
    return base::Bytes(size, static_cast<std::uint8_t>(filled_with));
  }
};

TEST_F(StoreBlobsTest, what_does_not_fit_on_the_disk_is_not_lost_and_fits_later) {
  open();
  StoreBlobs blobs(open_->blobs());
  const base::Hash small = blobs.put(blob('a', 10)).take();
  disk_->set_capacity(used() + 16 * 1024);
  const base::Hash large = blobs.put(blob('b')).take();
  const auto failed = write_all(blobs);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(blobs.get(small).take(), blob('a', 10));
  EXPECT_EQ(blobs.get(large).take(), blob('b'));

  disk_->set_capacity(std::nullopt);
  ASSERT_TRUE(write_all(blobs));
  EXPECT_EQ(open_->blobs().get(small).take(), blob('a', 10));
  EXPECT_EQ(open_->blobs().get(large).take(), blob('b'));
  EXPECT_EQ(blobs.get(large).take(), blob('b'));
}

TEST_F(StoreBlobsTest, no_more_waits_than_may) {
  open();
  StoreBlobs blobs(open_->blobs(), 100'000);
  const base::Hash first = blobs.put(blob('a')).take();
  ASSERT_TRUE(blobs.put(blob('b')));
  EXPECT_FALSE(open_->blobs().get(first));
  ASSERT_TRUE(blobs.put(blob('c')));
  EXPECT_TRUE(open_->blobs().get(first)) << "there was no room for a third";

  disk_->set_capacity(used());
  ASSERT_TRUE(blobs.put(blob('d')));
  const auto refused = blobs.put(blob('e'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable);
  for (const char each : {'a', 'b', 'c', 'd'})
    EXPECT_EQ(blobs.get(base::sha256(blob(each))).take(), blob(each));
}

// What is put while a snapshot is written is for the next one, though it be in this one as well: it
// must come into the store after this one is listed.
TEST_F(StoreBlobsTest, what_is_put_again_while_the_same_is_written_is_written_again) {
  open();
  StoreBlobs blobs(open_->blobs());
  const base::Hash both = blobs.put(blob('a')).take();
  blobs.begin_writing();
  ASSERT_TRUE(blobs.put(blob('a')));
  bool is_listed = false;
  ASSERT_TRUE(blobs.finish_writing([&]() -> base::Result<void> {
    is_listed = true;
    return {};
  }));
  EXPECT_TRUE(is_listed);
  EXPECT_EQ(blobs.written_bytes(), 40'000u);
  blobs.begin_writing();
  ASSERT_TRUE(blobs.finish_writing([] { return base::Result<void>(); }));
  EXPECT_EQ(blobs.written_bytes(), 80'000u);
  EXPECT_EQ(open_->blobs().get(both).take(), blob('a'));
}

TEST_F(StoreBlobsTest, nothing_is_written_between_the_beginning_and_the_end_of_a_snapshot) {
  open();
  StoreBlobs blobs(open_->blobs(), 100'000);
  ASSERT_TRUE(blobs.put(blob('a')));
  blobs.begin_writing();
  const base::Hash next = blobs.put(blob('b')).take();
  ASSERT_TRUE(blobs.put(blob('c')));
  const auto refused = blobs.put(blob('d'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable);
  EXPECT_FALSE(open_->blobs().get(next)) << "it waits";
  ASSERT_TRUE(blobs.finish_writing([] { return base::Result<void>(); }));
  ASSERT_TRUE(blobs.put(blob('d')));
  EXPECT_TRUE(open_->blobs().get(next));
}

TEST_F(StoreBlobsTest, it_says_when_another_thread_should_write_what_waits) {
  open();
  StoreBlobs blobs(open_->blobs(), 200'000, 50'000);
  const base::Hash first = blobs.put(blob('a')).take();
  EXPECT_FALSE(blobs.has_much());
  ASSERT_TRUE(blobs.put(blob('b')));
  EXPECT_TRUE(blobs.has_much());
  EXPECT_FALSE(blobs.is_crowded());
  ASSERT_TRUE(blobs.put(blob('c')));
  EXPECT_TRUE(blobs.is_crowded());
  EXPECT_FALSE(open_->blobs().get(first)) << "it waits";

  ASSERT_TRUE(blobs.write_waiting());
  EXPECT_FALSE(blobs.has_much());
  EXPECT_FALSE(blobs.is_crowded());
  EXPECT_TRUE(open_->blobs().get(first));
}

TEST_F(StoreBlobsTest, what_was_written_survives_a_power_cut) {
  open();
  std::vector<base::Hash> hashes;
  {
    StoreBlobs blobs(open_->blobs());
    for (char each = 'a'; each <= 'z'; ++each) hashes.push_back(blobs.put(blob(each)).take());
    ASSERT_TRUE(blobs.write_waiting());
  }
  // Of what was written and not synced, nothing is left.
  env::Crash crash;
  crash.at = disk_->operations().size();
  auto after =
      std::make_unique<env::SimDisk>(env::after_crash(disk_->start(), disk_->operations(), crash));
  open_.reset();
  disk_ = std::move(after);
  open();
  for (const base::Hash& hash : hashes) EXPECT_TRUE(open_->blobs().get(hash));
}

}  // namespace
}  // namespace holdfast::node
