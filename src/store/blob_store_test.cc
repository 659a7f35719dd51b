// SPDX-License-Identifier: Apache-2.0
#include "store/blob_store.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "store/testing_blobs.h"
#include "store/testing_faults.h"

namespace holdfast::store::testing {
namespace {

struct OnPosix {
  env::testing::TemporaryFolder folder;
  std::unique_ptr<env::Disk> disk = env::posix_disk();
  std::string path = folder.path() + "/world";
};

struct OnSim {
  std::unique_ptr<env::Disk> disk = std::make_unique<env::SimDisk>();
  std::string path = "./world";
};

template <class Where>
class BlobStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<OpenBlobs> open() {
    auto opened = open_blobs(*where_.disk, *random_, where_.path);
    EXPECT_TRUE(opened) << opened.error().to_string();
    return std::move(*opened);
  }

  Where where_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
};

using Wheres = ::testing::Types<OnPosix, OnSim>;
TYPED_TEST_SUITE(BlobStoreTest, Wheres);

TYPED_TEST(BlobStoreTest, gives_back_what_was_put) {
  auto open = this->open();
  const base::Hash hash = *open->blobs->put(base::as_bytes("abc"));
  EXPECT_EQ(hash, base::sha256(base::as_bytes("abc")));
  EXPECT_EQ(base::as_text(*open->blobs->get(hash)), "abc");
  const base::Hash of_nothing = *open->blobs->put({});
  EXPECT_TRUE(open->blobs->get(of_nothing)->empty());
}

TYPED_TEST(BlobStoreTest, gives_back_what_was_put_at_once_beside_what_waited) {
  auto open = this->open();
  const base::Bytes first = blob_bytes(1);
  const base::Bytes second = blob_bytes(2);
  const base::Hash waited = *open->blobs->put(base::as_bytes("abc"));
  const std::vector<BlobStore::Hashed> both{{base::sha256(first), first},
                                            {base::sha256(second), second}};
  ASSERT_TRUE(open->blobs->put_all(both));
  ASSERT_TRUE(open->blobs->put_all(both)) << "again";
  EXPECT_EQ(*open->blobs->get(base::sha256(first)), first);
  EXPECT_EQ(*open->blobs->get(base::sha256(second)), second);
  EXPECT_EQ(base::as_text(*open->blobs->get(waited)), "abc");
  EXPECT_EQ(*open->blobs->count(), 3u);
}

TYPED_TEST(BlobStoreTest, missing_blob_is_not_found) {
  auto open = this->open();
  EXPECT_EQ(open->blobs->get(base::Hash{}).error().code(), base::ErrorCode::kNotFound);
}

TYPED_TEST(BlobStoreTest, same_bytes_are_kept_once) {
  auto open = this->open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(open->blobs->put(base::as_bytes("abc")));
    ASSERT_TRUE(open->blobs->sync());
  }
  EXPECT_EQ(*open->blobs->count(), 1u);
}

TYPED_TEST(BlobStoreTest, synced_blobs_are_there_after_opening_again_and_others_are_not) {
  base::Hash synced;
  base::Hash later;
  {
    auto open = this->open();
    synced = *open->blobs->put(base::as_bytes("synced"));
    ASSERT_TRUE(open->blobs->sync());
    later = *open->blobs->put(base::as_bytes("later"));
  }
  auto open = this->open();
  EXPECT_EQ(base::as_text(*open->blobs->get(synced)), "synced");
  EXPECT_EQ(open->blobs->get(later).error().code(), base::ErrorCode::kNotFound);
}

TYPED_TEST(BlobStoreTest, holds_many_and_large_ones) {
  std::vector<base::Hash> hashes;
  {
    auto open = this->open();
    for (std::size_t i = 0; i < 2000; ++i) hashes.push_back(*open->blobs->put(blob_bytes(i)));
    hashes.push_back(*open->blobs->put(base::Bytes(5'000'000, 'x')));
    ASSERT_TRUE(open->blobs->sync());
  }
  auto open = this->open();
  for (std::size_t i = 0; i < 2000; ++i) ASSERT_EQ(*open->blobs->get(hashes[i]), blob_bytes(i));
  EXPECT_EQ(open->blobs->get(hashes.back())->size(), 5'000'000u);
}

TYPED_TEST(BlobStoreTest, too_large_blob_is_refused_and_nothing_else_is_lost) {
  auto open = this->open();
  const base::Hash hash = *open->blobs->put(base::as_bytes("abc"));
  EXPECT_EQ(open->blobs->put(base::Bytes(kMaxBlobBytes + 1)).error().code(),
            base::ErrorCode::kTooLarge);
  ASSERT_TRUE(open->blobs->sync());
  EXPECT_TRUE(open->blobs->get(hash));
}

// More than may wait, so that the disk is asked before the round has an end.
TEST(BlobStore, a_put_for_which_there_is_no_room_is_refused_and_all_others_wait) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  auto open = *open_blobs(disk, *random, "./world");
  const base::Hash before = *open->blobs->put(base::as_bytes("before"));
  ASSERT_TRUE(open->blobs->sync());
  disk.set_capacity(200'000);
  std::vector<base::Hash> accepted;
  std::size_t refused = 0;
  for (; accepted.size() < 10'000; ++refused) {
    const auto put = open->blobs->put(blob_bytes(refused));
    if (!put) {
      EXPECT_EQ(put.error().code(), base::ErrorCode::kUnavailable) << put.error().to_string();
      break;
    }
    accepted.push_back(*put);
  }
  ASSERT_LT(accepted.size(), 10'000u);
  EXPECT_FALSE(open->blobs->get(base::sha256(blob_bytes(refused))));
  EXPECT_EQ(open->blobs->sync().error().code(), base::ErrorCode::kUnavailable);
  EXPECT_TRUE(open->blobs->get(before));
  for (const base::Hash& hash : accepted) ASSERT_TRUE(open->blobs->get(hash));

  disk.set_capacity(std::nullopt);
  ASSERT_TRUE(open->blobs->put(blob_bytes(refused)));
  ASSERT_TRUE(open->blobs->sync());
  env::SimDisk after(after_worst_cut(disk));
  auto reopened = *open_blobs(after, *random, "./world");
  for (std::size_t i = 0; i <= refused; ++i)
    ASSERT_EQ(*reopened->blobs->get(base::sha256(blob_bytes(i))), blob_bytes(i));
}

// The journal needs the last bytes of a disk more than a log that nobody will read.
TEST(BlobStore, what_found_no_room_takes_none) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  auto open = *open_blobs(disk, *random, "./world");
  ASSERT_TRUE(open->blobs->put(base::as_bytes("before")));
  ASSERT_TRUE(open->blobs->sync());
  // Closing empties the log: what it holds of transactions that were committed stays otherwise.
  open.reset();
  open = *open_blobs(disk, *random, "./world");
  const auto used = [&disk] {
    std::uint64_t bytes = 0;
    for (const auto& [name, file] : disk.now().names) bytes += disk.now().files.at(file).size();
    return bytes;
  };
  const std::uint64_t before = used();
  for (std::size_t i = 0; i < 300; ++i) {
    base::Bytes bytes(10'000, 'x');
    bytes[0] = static_cast<std::uint8_t>(i);
    bytes[1] = static_cast<std::uint8_t>(i >> 8);
    ASSERT_TRUE(open->blobs->put(bytes));
  }
  for (const std::uint64_t room : {500'000u, 1'000'000u, 100'000u}) {
    disk.set_capacity(before + room);
    ASSERT_EQ(open->blobs->sync().error().code(), base::ErrorCode::kUnavailable);
    EXPECT_LE(used(), before) << "with room for " << room;
  }
  disk.set_capacity(std::nullopt);
  ASSERT_TRUE(open->blobs->sync());
}

// What it dropped cannot be had again, and nobody may take the rest for the whole.
TEST(BlobStore, a_failed_sync_ends_it) {
  int ended = 0;
  for (std::uint64_t call = 0; call < 8; ++call) {
    SCOPED_TRACE(call);
    env::SimDisk disk;
    const auto random = env::seeded_random(3);
    auto open = *open_blobs(disk, *random, "./world");
    const base::Hash part = *open->blobs->put(base::as_bytes("part"));
    disk.fail_call(call, env::DiskFault::kIoError);
    if (open->blobs->sync()) continue;
    ++ended;
    EXPECT_EQ(open->blobs->put(base::as_bytes("more")).error().code(), base::ErrorCode::kIo);
    EXPECT_EQ(open->blobs->sync().error().code(), base::ErrorCode::kIo);
    EXPECT_FALSE(open->blobs->get(part));
  }
  EXPECT_GT(ended, 2);
}

// However often it is tried, memory does not grow.
TEST(BlobStore, what_waits_for_room_is_bounded) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  auto open = *open_blobs(disk, *random, "./world");
  disk.set_capacity(0);
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    base::Bytes bytes(1'000'000, 'x');
    bytes[0] = static_cast<std::uint8_t>(i);
    if (open->blobs->put(bytes)) ++accepted;
  }
  EXPECT_EQ(accepted, kWaitingBytes / 1'000'200);
}

TEST(BlobStore, blobs_of_another_world_are_refused) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  ASSERT_TRUE(open_blobs(disk, *random, "./one"));
  ASSERT_TRUE(open_blobs(disk, *random, "./two"));
  env::DiskState mixed = disk.now();
  mixed.names["./one/blobs.db"] = mixed.names.at("./two/blobs.db");
  env::SimDisk after(std::move(mixed));
  const auto opened = open_blobs(after, *random, "./one");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kCorrupt);
}

TEST(BlobStore, a_transaction_is_done_whole_or_not_at_all) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  auto open = *open_blobs(disk, *random, "./world");
  const base::Hash before = *open->blobs->put(base::as_bytes("before"));
  const auto refused = open->blobs->transact([&]() -> base::Result<void> {
    TRY(open->blobs->database().run("DELETE FROM blobs"));
    return base::Error(base::ErrorCode::kNotFound, "no");
  });
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kNotFound);
  EXPECT_TRUE(open->blobs->get(before)) << "what was put before is not part of it";
  ASSERT_TRUE(
      open->blobs->transact([&] { return open->blobs->database().run("DELETE FROM blobs"); }));
  EXPECT_FALSE(open->blobs->get(before));
  EXPECT_TRUE(open->blobs->put(base::as_bytes("after")));
}

// SQLite notices some damage itself; whatever it lets through, the hash does not.
TEST(BlobStore, damaged_bytes_are_never_given_out) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  std::vector<base::Hash> hashes;
  {
    auto open = *open_blobs(disk, *random, "./world");
    for (std::size_t i = 0; i < 20; ++i) hashes.push_back(*open->blobs->put(blob_bytes(i)));
    ASSERT_TRUE(open->blobs->sync());
  }
  const std::uint64_t file = disk.now().names.at("./world/blobs.db");
  const std::size_t size = disk.now().files.at(file).size();
  int found_by_hash = 0;
  for (std::size_t at = 0; at < size; at += 13) {
    env::DiskState damaged = disk.now();
    damaged.files.at(file)[at] ^= 0x20;
    env::SimDisk after(std::move(damaged));
    const auto opened = open_blobs(after, *random, "./world");
    if (!opened) continue;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const auto bytes = (*opened)->blobs->get(hashes[i]);
      if (bytes) {
        ASSERT_EQ(*bytes, blob_bytes(i));
      } else if (bytes.error().message() == "the blob is damaged") {
        ++found_by_hash;
      }
    }
  }
  EXPECT_GT(found_by_hash, 100);
}

// Whoever goes back to an older snapshot puts the same bytes again.
TEST(BlobStore, putting_a_damaged_blob_again_mends_it) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  auto open = *open_blobs(disk, *random, "./world");
  const base::Hash hash = *open->blobs->put(base::as_bytes("abc"));
  ASSERT_TRUE(open->blobs->sync());
  ASSERT_TRUE(open->blobs->database().run("UPDATE blobs SET bytes = x'616264'"));
  const auto damaged = open->blobs->get(hash);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), base::ErrorCode::kCorrupt);
  ASSERT_TRUE(open->blobs->put(base::as_bytes("abc")));
  ASSERT_TRUE(open->blobs->sync());
  const auto mended = open->blobs->get(hash);
  ASSERT_TRUE(mended) << mended.error().to_string();
  EXPECT_EQ(base::as_text(*mended), "abc");
}

}  // namespace
}  // namespace holdfast::store::testing
