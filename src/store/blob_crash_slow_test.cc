// SPDX-License-Identifier: Apache-2.0
// Power cuts and failing calls under the blob store: what was synced is there.
#include <iostream>

#include "base/sha256.h"
#include "env/crash.h"
#include "store/testing_blobs.h"
#include "store/testing_faults.h"

namespace holdfast::store::testing {
namespace {

constexpr std::size_t kRounds = 6;
constexpr std::size_t kBlobsPerRound = 7;

// Puts the blobs of one round after the other; gives how many rounds were synced.
std::size_t put_rounds(BlobStore& blobs, std::size_t from,
                       const std::function<void(std::size_t)>& synced) {
  for (std::size_t round = from; round < kRounds; ++round) {
    // Some one by one, the others at once.
    std::vector<base::Bytes> bytes;
    std::vector<BlobStore::Hashed> at_once;
    for (std::size_t i = 0; i < kBlobsPerRound; ++i)
      bytes.push_back(blob_bytes(round * kBlobsPerRound + i));
    for (const base::Bytes& each : bytes) {
      if (&each - bytes.data() < 3) {
        static_cast<void>(blobs.put(each).has_value());
      } else {
        at_once.push_back({base::sha256(each), each});
      }
    }
    if (!blobs.put_all(at_once)) return round;
    if (!blobs.sync()) return round;
    synced(round + 1);
  }
  return kRounds;
}

void check_rounds(env::SimDisk& disk, std::size_t rounds) {
  const auto random = env::seeded_random(5);
  auto open = open_blobs(disk, *random, "./world");
  ASSERT_TRUE(open) << open.error().to_string();
  for (std::size_t i = 0; i < rounds * kBlobsPerRound; ++i) {
    const auto bytes = (*open)->blobs->get(base::sha256(blob_bytes(i)));
    ASSERT_TRUE(bytes) << "blob " << i << ": " << bytes.error().to_string();
  }
}

TEST(BlobCrash, synced_blobs_survive_every_power_cut) {
  env::SimDisk disk;
  const auto random = env::seeded_random(4);
  std::vector<std::size_t> synced_at = {
      0};  // by number of rounds: the operations issued until then
  for (std::size_t openings = 0; openings < 2; ++openings) {
    auto open = *open_blobs(disk, *random, "./world");
    put_rounds(*open->blobs, synced_at.size() - 1,
               [&](std::size_t) { synced_at.push_back(disk.operations().size()); });
  }
  std::uint64_t images = 0;
  std::uint64_t turn = 0;
  env::for_each_crash(disk.operations(), [&](const env::Crash& crash) {
    if (turn++ % 16 != 0 || HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    std::size_t rounds = 0;
    while (rounds + 1 < synced_at.size() && synced_at[rounds + 1] <= crash.at) ++rounds;
    env::SimDisk after(env::after_crash(disk.start(), disk.operations(), crash));
    check_rounds(after, rounds);
  });
  EXPECT_GT(images, 500u);
}

class BlobFaultSweep : public ::testing::TestWithParam<env::DiskFault> {};

TEST_P(BlobFaultSweep, loses_nothing_that_was_synced) {
  const std::uint64_t calls = for_each_failing_call(GetParam(), [](MortalDisk& mortal) {
    const auto random = env::seeded_random(4);
    std::size_t rounds = 0;
    for (int openings = 0; openings < 4 && rounds < kRounds; ++openings) {
      auto open = open_blobs(mortal.disk(), *random, "./world");
      if (!open) continue;
      put_rounds(*(*open)->blobs, rounds, [&](std::size_t synced) { rounds = synced; });
      // Closing a database would tidy up; a process that dies does not.
      mortal.die();
    }
    ASSERT_EQ(rounds, kRounds);
    env::SimDisk after(after_worst_cut(mortal.disk()));
    check_rounds(after, rounds);
  });
  std::cout << "fault sweep of the blobs: " << calls << " calls\n";
  EXPECT_GT(calls, 50u);
}

INSTANTIATE_TEST_SUITE_P(Each, BlobFaultSweep,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

}  // namespace
}  // namespace holdfast::store::testing
