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
    return blobs.write(blobs.waiting(), [] { return base::Result<void>(); });
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

}  // namespace
}  // namespace holdfast::node
