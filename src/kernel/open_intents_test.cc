// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_intents.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sha256.h"
#include "kernel/cell_codec.h"
#include "kernel/testing_blobs.h"

namespace holdfast::kernel {
namespace {

class VisitedIntentsTest : public ::testing::Test {
 protected:
  static base::Hash name(int n) { return base::sha256(base::as_bytes(std::to_string(n))); }
  void open(int from, int to) {
    const base::Bytes key{0x01};
    for (int n = from; n < to; ++n) {
      intents_.add(name(n), 0u, 0u, std::uint64_t{1}, std::uint64_t{1}, key_hash(key),
                   base::ByteView(key), base::ByteView(key), std::string_view());
      model_.insert(name(n));
    }
  }
  void settle(int from, int to) {
    for (int n = from; n < to; ++n) {
      ASSERT_NE(intents_.find(blobs_, name(n)), nullptr);
      intents_.remove(name(n));
      model_.erase(name(n));
    }
  }
  std::vector<base::Hash> visited(std::size_t most) {
    std::vector<base::Hash> hashes;
    EXPECT_TRUE(intents_.visit(blobs_, [&](const base::Hash& hash, const Intent&) {
      hashes.push_back(hash);
      return hashes.size() < most;
    }));
    return hashes;
  }

  testing::MemoryBlobs blobs_;
  OpenIntents intents_;
  std::set<base::Hash> model_;
};

// Some sleep in the index, some of those have settled, moved or been looked at since, some are new.
TEST_F(VisitedIntentsTest, are_visited_in_their_order_wherever_they_are_and_as_far_as_is_wanted) {
  open(0, 100);
  ASSERT_TRUE(intents_.flush(blobs_));
  settle(0, 30);
  for (int n = 30; n < 40; ++n) {
    ASSERT_NE(intents_.find(blobs_, name(n)), nullptr);
    intents_.progressed(name(n), 7);
  }
  for (int n = 40; n < 50; ++n) ASSERT_NE(intents_.find(blobs_, name(n)), nullptr);
  open(100, 150);
  settle(100, 110);
  const std::vector<base::Hash> all(model_.begin(), model_.end());
  ASSERT_EQ(all.size(), 110u);
  for (std::size_t most = 1; most <= all.size(); ++most) {
    const std::vector<base::Hash> first(all.begin(), all.begin() + static_cast<long>(most));
    ASSERT_EQ(visited(most), first);
  }
}

}  // namespace
}  // namespace holdfast::kernel
