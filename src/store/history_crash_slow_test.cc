// SPDX-License-Identifier: Apache-2.0
// Power cuts and failing calls under the index of instances: after it has caught up, it holds what
// an index holds that was made in one go.
#include <iostream>

#include "env/crash.h"
#include "store/history_swap.h"
#include "store/testing_history.h"

namespace holdfast::store::testing {
namespace {

constexpr RecordNumber kSlice = 5;

// Goes on from wherever the index stands; `applied` hears of every slice.
base::Result<void> catch_up(const MadeUpHistory& history, HistoryIndex& index,
                            const std::function<void(RecordNumber)>& applied = {}) {
  while (index.cursor().record < history.last()) {
    const RecordNumber last = std::min(index.cursor().record + kSlice, history.last());
    TRY(history.feed(index, last));
    if (applied) applied(last);
  }
  return {};
}

TEST(HistoryCrash, after_every_power_cut_it_catches_up_to_the_same_rows) {
  const MadeUpHistory history(40);
  const auto expected = rows_of_one_pass(history);
  env::SimDisk disk;
  const auto random = env::seeded_random(4);
  // By operation: the last record that was applied when it was issued.
  std::vector<std::pair<std::size_t, RecordNumber>> applied = {{0, 0}};
  for (int openings = 0; openings < 2; ++openings) {
    auto open = *open_history(disk, *random);
    ASSERT_TRUE(catch_up(history, *open->index, [&](RecordNumber last) {
      applied.emplace_back(disk.operations().size(), last);
    }));
  }
  std::uint64_t images = 0;
  std::uint64_t turn = 0;
  std::uint64_t behind = 0;
  env::for_each_crash(disk.operations(), [&](const env::Crash& crash) {
    if (turn++ % 16 != 0 || HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    RecordNumber promised = 0;
    for (const auto& [at, last] : applied) {
      if (at <= crash.at) promised = last;
    }
    env::SimDisk after(env::after_crash(disk.start(), disk.operations(), crash));
    const auto chance = env::seeded_random(5);
    auto open = open_history(after, *chance);
    ASSERT_TRUE(open) << open.error().to_string();
    EXPECT_GE((*open)->index->cursor().record, promised);
    if ((*open)->index->cursor().record < history.last()) ++behind;
    const auto caught_up = catch_up(history, *(*open)->index);
    ASSERT_TRUE(caught_up) << caught_up.error().to_string();
    EXPECT_EQ(everything(*(*open)->index), expected);
  });
  EXPECT_GT(images, 500u);
  EXPECT_GT(behind, 100u) << "cuts that leave nothing to catch up show nothing";
}

class HistoryFaultSweep : public ::testing::TestWithParam<env::DiskFault> {};

TEST_P(HistoryFaultSweep, catches_up_to_the_same_rows) {
  const MadeUpHistory history(40);
  const auto expected = rows_of_one_pass(history);
  std::uint64_t calls = 0;
  for (std::uint64_t call = 0; call == 0 || call < calls; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    auto disk = std::make_unique<env::SimDisk>();
    const auto random = env::seeded_random(4);
    if (call > 0) disk->fail_call(call, GetParam());
    bool done = false;
    for (int openings = 0; openings < 4 && !done; ++openings) {
      auto open = open_history(*disk, *random);
      if (!open) continue;
      done = catch_up(history, *(*open)->index).has_value();
      auto after_death = disk->after_process_death();
      open->reset();
      disk = std::move(after_death);
    }
    ASSERT_TRUE(done);
    if (call == 0) calls = disk->changing_calls();
    env::Crash crash{.at = disk->operations().size()};
    const auto pending = env::pending_operations(disk->operations());
    crash.lost.insert(pending.begin(), pending.end());
    env::SimDisk after(env::after_crash(disk->start(), disk->operations(), crash));
    auto open = open_history(after, *random);
    ASSERT_TRUE(open) << open.error().to_string();
    EXPECT_EQ((*open)->index->cursor().record, history.last());
    EXPECT_EQ(everything(*(*open)->index), expected);
    if (HasFailure()) return;
  }
  std::cout << "fault sweep of the index: " << calls << " calls\n";
  EXPECT_GT(calls, 30u);
}

INSTANTIATE_TEST_SUITE_P(Each, HistoryFaultSweep,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

// The old index or the new one is there at every moment, and whole; also when the old one was not
// closed, and its log is still there.
class HistoryRebuildCrash : public ::testing::TestWithParam<bool> {};

TEST_P(HistoryRebuildCrash, leaves_the_old_index_or_the_new_one) {
  const MadeUpHistory history(20);
  const auto expected = rows_of_one_pass(history);
  const auto random = env::seeded_random(4);
  auto whole = std::make_unique<env::SimDisk>();
  {
    // Closed once, so that the log of the second time is a part of it only.
    auto open = *open_history(*whole, *random);
    ASSERT_TRUE(history.feed(*open->index, 5));
  }
  {
    auto open = *open_history(*whole, *random);
    ASSERT_TRUE(history.feed(*open->index, 10));
    auto after_death = whole->after_process_death();
    open.reset();
    if (GetParam()) whole = std::move(after_death);
  }
  env::SimDisk& disk = *whole;
  const std::size_t begin = disk.operations().size();
  std::size_t swap = begin;
  {
    const auto process = env::posix_process();
    auto folder = *WorldFolder::open(disk, *random, *process, "./world");
    auto built = *begin_new_history(folder);
    ASSERT_TRUE(catch_up(history, *built));
    swap = disk.operations().size();
    ASSERT_TRUE(put_in_place(folder, std::move(built)));
  }
  std::uint64_t images = 0;
  std::uint64_t turn = 0;
  std::uint64_t old = 0;
  env::for_each_crash(disk.operations(), [&](const env::Crash& crash) {
    // Some of the cuts while it is built, and all while it is put in place.
    if (crash.at < begin || (turn++ % 8 != 0 && crash.at < swap) || HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    env::SimDisk after(env::after_crash(disk.start(), disk.operations(), crash));
    const auto chance = env::seeded_random(5);
    auto open = open_history(after, *chance);
    ASSERT_TRUE(open) << open.error().to_string();
    const RecordNumber seen = (*open)->index->cursor().record;
    ASSERT_TRUE(seen == 10 || seen == history.last()) << seen;
    if (seen == 10) ++old;
    ASSERT_TRUE(catch_up(history, *(*open)->index));
    EXPECT_EQ(everything(*(*open)->index), expected);
  });
  EXPECT_GT(old, 100u);
  EXPECT_GT(images, old);
}

INSTANTIATE_TEST_SUITE_P(OldOneDied, HistoryRebuildCrash, ::testing::Bool());

}  // namespace
}  // namespace holdfast::store::testing
