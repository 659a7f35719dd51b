// SPDX-License-Identifier: Apache-2.0
// Design: "Cells".
#include "kernel/cells.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "kernel/testing_cells.h"

namespace holdfast::kernel {
namespace {

using testing::add;
using testing::CountingBlobs;
using testing::id_of;
using testing::key_of;
using testing::MemoryBlobs;
using testing::message;
using testing::value;

TEST(CellsTest, are_looked_for_in_memory_and_then_in_the_index) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {2, 1 << 20});
  for (std::uint64_t n = 0; n < 10; ++n) add(cells, n);
  EXPECT_NE(cells.find(id_of(3)), nullptr);
  EXPECT_EQ(blobs.gets, 0) << "what changed is in memory";
  ASSERT_TRUE(cells.flush());
  cells.trim();
  EXPECT_EQ(cells.in_memory(), 2u);
  EXPECT_TRUE(cells.holds(id_of(9)));
  EXPECT_FALSE(cells.holds(id_of(1)));
  EXPECT_EQ(cells.find(id_of(1))->state, base::Bytes(10, 1));
  EXPECT_GT(blobs.gets, 0);
  const int before = blobs.gets;
  EXPECT_NE(cells.find(id_of(1)), nullptr);
  EXPECT_EQ(blobs.gets, before) << "it is in memory again";
  EXPECT_EQ(cells.find(id_of(99)), nullptr);
}

TEST(CellsTest, the_clean_ones_in_memory_are_4096_by_default) {
  MemoryBlobs blobs;
  Cells cells(0, blobs);
  for (std::uint64_t n = 0; n < 5000; ++n) add(cells, n);
  ASSERT_TRUE(cells.flush());
  for (int i = 0; i < 100; ++i) cells.trim();
  EXPECT_EQ(cells.in_memory(), 4096u);
}

TEST(CellsTest, the_clean_ones_in_memory_are_bounded_in_bytes_too) {
  MemoryBlobs blobs;
  CellLimits limits;
  limits.clean_bytes = 100'000;
  Cells cells(0, blobs, limits);
  for (std::uint64_t n = 0; n < 100; ++n) add(cells, n, 10'000);
  ASSERT_TRUE(cells.flush());
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t n = 0; n < 100; ++n) {
      Cell* const cell = cells.find(id_of(n));
      ASSERT_NE(cell, nullptr);
      const auto state = cells.state_of(*cell);
      ASSERT_TRUE(state && *state);
      EXPECT_EQ((*state)->size(), 10'000u);
      cells.trim();
    }
    std::size_t held = 0;
    for (std::uint64_t n = 0; n < 100; ++n) {
      if (!cells.holds(id_of(n))) continue;
      held += cells.find(id_of(n))->state.size();
    }
    EXPECT_LE(held, limits.clean_bytes);
    EXPECT_GT(held, limits.clean_bytes / 2) << "and they are kept as long as there is room";
    // What changes is counted with the dirty ones, and comes back.
    for (std::uint64_t n = 90; n < 100; ++n) {
      Cell* const cell = cells.find(id_of(n));
      cells.set_state(*cell, base::Bytes(10'000, 7));
      cells.changed(*cell);
    }
    ASSERT_TRUE(cells.flush());
  }
}

TEST(CellsTest, a_dirty_state_that_spills_stays_dirty_and_reads_back) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {4096, 100'000});
  Cell& cell = add(cells, 1, std::size_t{1} << 20);
  cells.trim();
  EXPECT_EQ(blobs.puts, 1);
  EXPECT_TRUE(cell.state.empty());
  EXPECT_TRUE(cell.dirty);
  EXPECT_EQ((*cells.state_of(cell))->size(), std::size_t{1} << 20);
  ASSERT_TRUE(cells.flush());
  Cells other(0, blobs);
  other.restore(cells.index(), cells.active());
  EXPECT_EQ((*other.state_of(*other.find(id_of(1))))->size(), std::size_t{1} << 20);
}

TEST(CellsTest, over_the_memory_limit_the_least_recently_used_states_spill) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {4096, 100'000});
  for (std::uint64_t n = 0; n < 20; ++n) {
    add(cells, n, 10'000);
    cells.find(id_of(0));  // always in use
    cells.trim();
  }
  EXPECT_FALSE(cells.find(id_of(0))->state.empty());
  EXPECT_TRUE(cells.find(id_of(1))->state.empty());
  EXPECT_FALSE(cells.find(id_of(19))->state.empty());
  EXPECT_EQ((*cells.state_of(*cells.find(id_of(1))))->size(), 10'000u);
}

TEST(CellsTest, without_room_on_the_disk_states_stay_in_memory_until_there_is_some) {
  struct FullBlobs : MemoryBlobs {
    base::Result<base::Hash> put(base::ByteView bytes) override {
      ++puts;
      return MemoryBlobs::put(bytes);
    }
    int puts = 0;
  } blobs;
  blobs.is_full = true;
  Cells cells(0, blobs, {10, 8'000});
  for (std::uint64_t n = 0; n < 3; ++n) add(cells, n, 5'000);
  cells.trim();
  EXPECT_FALSE(cells.failure());
  EXPECT_EQ(blobs.puts, 1) << "one is enough to know";
  for (int tick = 0; tick < 100; ++tick) cells.trim();
  EXPECT_EQ(blobs.puts, 1) << "and there is no use in trying the same with every tick";
  add(cells, 3, 5'000);
  cells.trim();
  EXPECT_EQ(blobs.puts, 2) << "but when there are more, there may be room";
  blobs.is_full = false;
  add(cells, 4, 5'000);
  cells.trim();
  EXPECT_TRUE(cells.find(id_of(0))->state.empty());
  EXPECT_EQ((*cells.state_of(*cells.find(id_of(0))))->size(), 5'000u);
  EXPECT_FALSE(cells.failure());
}

// The walk that looks for states to spill makes no call that could be counted; but when small
// states count, a large one spills although spilling is not what memory lacks.
TEST(CellsTest, small_states_do_not_count_towards_the_states_that_may_spill) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {4096, 100'000});
  Cell& large = add(cells, 0, 10'000);
  for (std::uint64_t n = 1; n < 200; ++n) {
    add(cells, n, kInlineValueBytes);
    cells.trim();
  }
  EXPECT_EQ(blobs.puts, 0) << "200 KB are dirty, but only 10 KB could spill";
  EXPECT_FALSE(large.state.empty());
  for (std::uint64_t n = 200; n < 210; ++n) add(cells, n, 10'000);
  cells.trim();
  EXPECT_GT(blobs.puts, 0);
  EXPECT_TRUE(large.state.empty()) << "the oldest that can spill";
}

TEST(CellsTest, a_state_that_grows_shrinks_comes_back_or_goes_is_counted_once) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {4096, 50'000});
  for (int round = 0; round < 100; ++round) {
    for (const std::size_t size : {10'000u, 10u, 2'000u, 1'024u, 1'025u})
      cells.set_state(cells.begin(id_of(1), key_of(1)), base::Bytes(size, 1));
    cells.trim();
    if (round % 10 == 9) {
      ASSERT_TRUE(cells.flush());
      Cell& again = *cells.find(id_of(1));
      ASSERT_TRUE(cells.state_of(again));
      cells.changed(again);
    }
    if (round % 10 == 5) cells.erase(*cells.find(id_of(1)));
  }
  const int before = blobs.puts;
  add(cells, 2, 45'000);
  cells.trim();
  EXPECT_EQ(blobs.puts, before) << "nothing else is counted";
}

TEST(CellsTest, small_states_live_inside_the_leaves) {
  CountingBlobs blobs;
  Cells cells(0, blobs);
  for (std::uint64_t n = 0; n < 32; ++n) add(cells, n, 100);
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(blobs.puts, 1) << "one leaf holds them all";
  Cells large(0, blobs);
  add(large, 1, kInlineValueBytes + 1);
  ASSERT_TRUE(large.flush());
  EXPECT_EQ(blobs.puts, 3) << "the state, and the leaf";
}

TEST(CellsTest, the_root_of_the_index_depends_on_content_only) {
  std::mt19937 random(7);
  std::vector<std::uint64_t> order(300);
  std::iota(order.begin(), order.end(), 0u);
  std::optional<base::Hash> root;
  for (int run = 0; run < 20; ++run) {
    std::shuffle(order.begin(), order.end(), random);
    MemoryBlobs blobs;
    Cells cells(0, blobs, {8, 500});
    for (const std::uint64_t n : order) {
      add(cells, n);
      if (random() % 3 == 0) add(cells, 1000 + n);  // comes and goes
      if (random() % 10 == 0) {
        ASSERT_TRUE(cells.flush());
      }
      if (Cell* cell = cells.find(id_of(1000 + n))) cells.erase(*cell);
      cells.trim();
    }
    ASSERT_TRUE(cells.flush());
    if (!root) root = cells.index().root();
    EXPECT_EQ(cells.index().root(), *root) << run;
    EXPECT_EQ(cells.index().size(), 300u);
  }
}

TEST(CellsTest, an_index_that_cannot_be_read_stops_the_world) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {0, 1 << 20});
  for (std::uint64_t n = 0; n < 10; ++n) add(cells, n);
  ASSERT_TRUE(cells.flush());
  cells.trim();
  blobs.broken = true;
  EXPECT_EQ(cells.find(id_of(1)), nullptr);
  ASSERT_TRUE(cells.failure());
  EXPECT_EQ(cells.failure()->to_string(), "the disk is gone");
}

TEST(CellsTest, large_mail_and_outcomes_move_to_blobs_when_memory_runs_short) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {10, 40'000});
  for (std::uint8_t n = 1; n <= 4; ++n) {
    Cell& cell = add(cells, n);
    cell.outcome = base::Bytes(10'000, n);
    cell.mail.push_back(message(10'000, n));
    cells.changed(cell);
    cells.trim();
  }
  EXPECT_EQ(blobs.puts, 4) << "of 60,000 bytes 30,000 may stay";
  Cell& first = *cells.find(id_of(1));
  EXPECT_TRUE(first.outcome.empty());
  EXPECT_EQ(first.mail.spillable(), 0u);
  EXPECT_EQ(first.mail.bytes(), message(10'000).weight()) << "it counts as before";
  EXPECT_EQ(*blobs.get(*first.outcome_blob), base::Bytes(10'000, 1));
  Mail mail = first.mail.take_front()->mail;
  EXPECT_TRUE(cells.bring_back(mail));
  EXPECT_EQ(mail.value, base::Bytes(10'000, 1));
}

TEST(CellsTest, what_comes_and_goes_between_two_flushes_leaves_nothing_in_the_index) {
  CountingBlobs blobs;
  Cells cells(0, blobs);
  for (std::uint64_t n = 0; n < 100; ++n) cells.erase(add(cells, n));
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(cells.index().size(), 0u);
  add(cells, 1);
  ASSERT_TRUE(cells.flush());
  cells.erase(*cells.find(id_of(1)));
  cells.erase(add(cells, 1));
  EXPECT_EQ(cells.find(id_of(1)), nullptr) << "the index still has it";
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(cells.index().size(), 0u);
}

// Whoever comes, changes, goes and comes again, also between the parts of a round.
TEST(CellsTest, what_is_written_ahead_leaves_the_index_as_a_flush_alone_does) {
  MemoryBlobs blobs;
  Cells at_once(0, blobs, {64, 1 << 20});
  Cells ahead(0, blobs, {64, 1 << 20});
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t n = random() % 1000;
      const bool goes = random() % 4 == 0;
      const std::size_t size = 1 + random() % 2000;
      for (Cells* cells : {&at_once, &ahead}) {
        Cell* cell = cells->find(id_of(n));
        if (cell != nullptr && goes) {
          cells->erase(*cell);
        } else {
          if (cell == nullptr) cell = &cells->begin(id_of(n), key_of(n));
          cells->set_state(*cell, base::Bytes(size, static_cast<std::uint8_t>(size)));
        }
        cells->trim();
      }
      if (i % 3 == 0) {
        std::size_t budget = 10;
        ASSERT_TRUE(ahead.flush_ahead(budget));
      }
    }
    ASSERT_TRUE(at_once.flush());
    ASSERT_TRUE(ahead.flush());
    ASSERT_EQ(ahead.index().root(), at_once.index().root()) << round;
    ASSERT_EQ(ahead.index().size(), at_once.index().size());
    ASSERT_EQ(ahead.active(), at_once.active());
  }
}

TEST(CellsTest, a_round_ahead_writes_a_part_at_a_time_and_leaves_little_to_a_flush) {
  CountingBlobs blobs;
  Cells cells(0, blobs);
  for (std::uint64_t n = 0; n < 20'000; ++n) add(cells, n);
  int parts = 0;
  int most_puts = 0;
  for (bool more = true; more; ++parts) {
    std::size_t budget = 256;
    const int before = blobs.puts;
    more = cells.flush_ahead(budget).take();
    most_puts = std::max(most_puts, blobs.puts - before);
  }
  EXPECT_GE(parts, 20'000 / (256 + 32));
  EXPECT_LE(most_puts, 256);
  const int before = blobs.puts;
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(blobs.puts, before) << "nothing is left";
  EXPECT_EQ(cells.index().size(), 20'000u);
}

TEST(CellsTest, a_part_of_a_round_ahead_is_bounded_in_bytes_too) {
  MemoryBlobs blobs;
  Cells cells(0, blobs);
  for (std::uint64_t n = 0; n < 40; ++n)
    cells.set_state(cells.begin(id_of(n), key_of(n)), base::Bytes(std::size_t{512} << 10, 'x'));
  int parts = 0;
  for (bool more = true; more; ++parts) {
    std::size_t budget = 256;
    more = cells.flush_ahead(budget).take();
  }
  EXPECT_EQ(parts, 5) << "of eight cells, which are 4 MiB";
}

// A key that comes and goes again and again is noted each time, and a round has to end.
TEST(CellsTest, a_round_ahead_writes_once_what_became_dirty_many_times) {
  CountingBlobs blobs;
  Cells cells(0, blobs);
  for (int i = 0; i < 20'000; ++i) {
    if (Cell* cell = cells.find(id_of(1))) cells.erase(*cell);
    add(cells, 1);
  }
  add(cells, 2);
  EXPECT_EQ(cells.dirty(), 2u);
  std::size_t budget = 256;
  EXPECT_FALSE(cells.flush_ahead(budget).take());
  EXPECT_EQ(budget, 254u);
  EXPECT_EQ(cells.dirty(), 0u);
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(cells.index().size(), 2u);
}

}  // namespace
}  // namespace holdfast::kernel
