// SPDX-License-Identifier: Apache-2.0
// Power cuts and failing calls while snapshots are taken and blobs are collected: a snapshot that
// was promised is listed, and every one that is listed is whole.
#include <iostream>

#include "env/crash.h"
#include "store/testing_faults.h"
#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

constexpr std::size_t kStates = 9;

// From one state to another, a snapshot of each, with a slice of a collection wherever there is a
// place for one, and the journal trimmed as far as it may be. Tells the number of each snapshot
// when it is promised; gives the first state that was not reached.
std::size_t run(OpenSnapshots& open, std::size_t from, std::size_t until,
                const std::function<void(const SnapshotEntry&)>& promised) {
  std::unique_ptr<BlobGc> gc;
  const auto collect_some = [&] {
    if (gc == nullptr) {
      auto begun = BlobGc::begin(*open.blobs, *open.snapshots, tree_shapes());
      if (!begun) return;
      gc = std::move(*begun);
    }
    const auto progress = gc->step(4);
    if (!progress || progress->done) gc.reset();
  };
  for (std::size_t state = from; state < until; ++state) {
    // What a world in memory would put between snapshots, and not come to need.
    static_cast<void>(open.blobs->put(blob_bytes(1000 + state)).has_value());
    collect_some();
    const auto entry = add_tree(open, state);
    if (!entry) return state;
    promised(*entry);
    collect_some();
    collect_some();
    const auto listed = open.snapshots->list();
    if (!listed || !open.journal().trim(records_needed(*listed))) return state + 1;
  }
  return until;
}

void expect_all_whole(OpenSnapshots& open) {
  for (const SnapshotEntry& entry : open.snapshots->list().take()) {
    const auto bytes = open.snapshots->read(open.journal(), entry);
    ASSERT_TRUE(bytes) << bytes.error().to_string();
    const auto whole = walk(*open.blobs, {entry.hash, kNode});
    ASSERT_TRUE(whole) << whole.error().to_string();
  }
}

// At least the promised one is listed, and whole, also after a collection has had its way.
void check(env::SimDisk& disk, std::uint64_t promised) {
  const auto random = env::seeded_random(5);
  auto opened = open_snapshots(disk, *random);
  ASSERT_TRUE(opened) << opened.error().to_string();
  OpenSnapshots& open = **opened;
  const auto listed = *open.snapshots->list();
  if (promised > 0) {
    ASSERT_FALSE(listed.empty());
    EXPECT_GE(listed.front().number, promised);
    EXPECT_EQ(listed.size(), std::min<std::size_t>(listed.front().number, kSnapshotsKept));
  }
  expect_all_whole(open);
  const auto collected = collect(open);
  ASSERT_TRUE(collected) << collected.error().to_string();
  expect_all_whole(open);
}

TEST(SnapshotCrash, listed_snapshots_are_whole_after_every_power_cut) {
  env::SimDisk disk;
  const auto random = env::seeded_random(4);
  struct Promise {
    std::size_t at = 0;
    std::uint64_t number = 0;
  };
  std::vector<Promise> promises = {{}};
  for (const std::size_t until : {kStates / 2, kStates}) {  // and what is between two openings
    auto open = *open_snapshots(disk, *random);
    run(*open, promises.size() - 1, until, [&](const SnapshotEntry& entry) {
      promises.push_back({disk.operations().size(), entry.number});
    });
  }
  EXPECT_FALSE((*open_snapshots(disk, *random))->blobs->get(base::sha256(blob_bytes(1000))))
      << "no collection came to its end";
  std::uint64_t images = 0;
  std::uint64_t turn = 0;
  env::for_each_crash(disk.operations(), [&](const env::Crash& crash) {
    if (turn++ % 8 != 0 || HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    std::uint64_t promised = 0;
    for (const Promise& each : promises) {
      if (each.at <= crash.at) promised = each.number;
    }
    env::SimDisk after(env::after_crash(disk.start(), disk.operations(), crash));
    check(after, promised);
  });
  EXPECT_GT(images, 4000u);
}

class SnapshotFaultSweep : public ::testing::TestWithParam<env::DiskFault> {};

TEST_P(SnapshotFaultSweep, listed_snapshots_are_whole) {
  const std::uint64_t calls = for_each_failing_call(GetParam(), [](MortalDisk& mortal) {
    const auto random = env::seeded_random(4);
    std::size_t state = 0;
    std::uint64_t promised = 0;
    for (int openings = 0; openings < 4 && state < kStates; ++openings) {
      auto open = open_snapshots(mortal.disk(), *random);
      if (!open) continue;
      state =
          run(**open, state, kStates, [&](const SnapshotEntry& entry) { promised = entry.number; });
      mortal.die();
    }
    ASSERT_EQ(state, kStates);
    env::SimDisk after(after_worst_cut(mortal.disk()));
    check(after, promised);
  });
  std::cout << "fault sweep of snapshots and collections: " << calls << " calls\n";
  EXPECT_GT(calls, 100u);
}

INSTANTIATE_TEST_SUITE_P(Each, SnapshotFaultSweep,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

}  // namespace
}  // namespace holdfast::store::testing
