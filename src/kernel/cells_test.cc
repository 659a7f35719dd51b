// SPDX-License-Identifier: Apache-2.0
// Design: "Cells".
#include "kernel/cells.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "kernel/cell_codec.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::LabTest;
using testing::MemoryBlobs;
using testing::value;

base::Bytes key_of(std::uint64_t n) { return value(std::to_string(n)); }

base::Hash id_of(std::uint64_t n) { return key_hash(key_of(n)); }

// Counts what is read and written, and can be told to fail.
class CountingBlobs : public MemoryBlobs {
 public:
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    ++gets;
    if (broken) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::get(hash);
  }
  base::Result<base::Hash> put(base::ByteView bytes) override {
    ++puts;
    largest = std::max(largest, bytes.size());
    if (broken) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::put(bytes);
  }
  mutable int gets = 0;
  int puts = 0;
  std::size_t largest = 0;
  bool broken = false;
};

Cell& add(Cells& cells, std::uint64_t n, std::size_t state_size = 10) {
  Cell& cell = cells.begin(id_of(n), key_of(n));
  cells.set_state(cell, base::Bytes(state_size, static_cast<std::uint8_t>(n)));
  return cell;
}

TEST(CellsTest, are_looked_for_in_memory_and_then_in_the_index) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {2, 1 << 20});
  for (std::uint64_t n = 0; n < 10; ++n) add(cells, n);
  EXPECT_NE(cells.find(id_of(3)), nullptr);
  EXPECT_EQ(blobs.gets, 0) << "what changed is in memory";
  ASSERT_TRUE(cells.flush());
  cells.trim();
  EXPECT_EQ(cells.in_memory(), 2u);
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

TEST(CellsTest, a_dirty_state_that_spills_stays_dirty_and_reads_back) {
  CountingBlobs blobs;
  Cells cells(0, blobs, {4096, 100'000});
  Cell& cell = add(cells, 1, std::size_t{1} << 20);
  cells.trim();
  EXPECT_EQ(blobs.puts, 1);
  EXPECT_TRUE(cell.state.empty());
  EXPECT_TRUE(cell.dirty);
  EXPECT_EQ(cells.state_of(cell)->size(), std::size_t{1} << 20);
  ASSERT_TRUE(cells.flush());
  Cells other(0, blobs);
  other.restore(cells.index(), cells.active());
  EXPECT_EQ(other.state_of(*other.find(id_of(1)))->size(), std::size_t{1} << 20);
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
  EXPECT_EQ(cells.state_of(*cells.find(id_of(1)))->size(), 10'000u);
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
  EXPECT_EQ(cells.state_of(*cells.find(id_of(0)))->size(), 5'000u);
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

TEST(CellCodecTest, a_cell_comes_back_as_it_was) {
  Cell cell;
  cell.key = value(R"("k")");
  cell.paused = true;
  cell.has_state = true;
  cell.state = value(R"({"n":1})");
  cell.intents.resize(2);
  cell.intents[1].bytes[0] = 9;
  cell.last_record = 12;
  cell.last_active_ns = 13;
  Mail mail;
  mail.kind = MailKind::kRejected;
  mail.schema = "s";
  mail.value = value("1");
  mail.origin = {cell.intents[1], "effect", "issuer", 4};
  mail.status = ReceiptStatus::kTimeout;
  mail.sequence = 6;
  mail.note = "note";
  mail.cost_cents = 7;
  mail.signature = {1, 2};
  mail.payload_hash.bytes[3] = 3;
  mail.payload_size = 8;
  cell.mail.push_back(mail);
  MemoryBlobs blobs;
  const auto again = decode_cell(*encode_cell(cell, blobs), blobs);
  ASSERT_TRUE(again);
  EXPECT_EQ(*encode_cell(*again, blobs), *encode_cell(cell, blobs));
  EXPECT_EQ(again->mail.bytes(), cell.mail.bytes());
  EXPECT_EQ((*again->mail.begin()).origin, mail.origin);
  EXPECT_EQ((*again->mail.begin()).cost_cents, 7u);
  EXPECT_EQ((*again->mail.begin()).signature, mail.signature);
  EXPECT_EQ(again->state, cell.state);
}

TEST(CellCodecTest, only_a_cell_that_has_ended_has_an_outcome) {
  MemoryBlobs blobs;
  for (const bool in_a_blob : {false, true}) {
    Cell cell;
    cell.key = value(R"("k")");
    if (in_a_blob) {
      cell.outcome_blob = *blobs.put(base::Bytes(2000, 1));
    } else {
      cell.outcome = value("5");
    }
    const auto refused = decode_cell(*encode_cell(cell, blobs), blobs);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);
    cell.phase = Phase::kFailed;
    const auto again = decode_cell(*encode_cell(cell, blobs), blobs);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->outcome, cell.outcome);
    EXPECT_EQ(again->outcome_blob, cell.outcome_blob);
  }
}

TEST(CellCodecTest, refuses_every_cut_and_every_flipped_bit_or_reads_something_well_formed) {
  Cell cell;
  cell.key = value(R"("k")");
  Mail mail;
  mail.schema = "s";
  cell.mail.push_back(mail);
  MemoryBlobs blobs;
  const base::Bytes good = *encode_cell(cell, blobs);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(decode_cell(base::ByteView(good).first(size), blobs)) << size;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    base::Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    const auto decoded = decode_cell(bad, blobs);
    if (!decoded) continue;
    EXPECT_EQ(*encode_cell(*decoded, blobs), bad) << bit;
  }
}

// A message whose value has so many bytes.
Mail message(std::size_t size, std::uint8_t fill = 0) {
  Mail mail;
  mail.schema = "s";
  mail.value = base::Bytes(size, fill);
  return mail;
}

TEST(CellCodecTest, much_mail_is_kept_in_chunks_and_comes_back_in_order) {
  CountingBlobs blobs;
  Cell cell;
  cell.key = value(R"("k")");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Mail mail = message(kInlineValueBytes);
    mail.sequence = i;
    cell.mail.push_back(mail);
  }
  const base::Bytes bytes = *encode_cell(cell, blobs);
  EXPECT_LT(bytes.size(), 1000u);
  EXPECT_GT(blobs.puts, 4);
  EXPECT_LT(blobs.largest, std::size_t{1} << 19);
  const auto again = decode_cell(bytes, blobs);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->mail.size(), 2000u);
  EXPECT_EQ(again->mail.bytes(), cell.mail.bytes());
  std::uint64_t expected = 0;
  for (const Mail& mail : again->mail) EXPECT_EQ(mail.sequence, expected++);
  blobs.broken = true;
  EXPECT_EQ(decode_cell(bytes, blobs).error().code(), base::ErrorCode::kIo);
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
  EXPECT_EQ(cells.erased(), 0u);
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(cells.index().size(), 0u);
  add(cells, 1);
  ASSERT_TRUE(cells.flush());
  cells.erase(*cells.find(id_of(1)));
  cells.erase(add(cells, 1));
  EXPECT_EQ(cells.erased(), 1u);
  EXPECT_EQ(cells.find(id_of(1)), nullptr) << "the index still has it";
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(cells.index().size(), 0u);
}

class WorldOfManyTest : public LabTest {};

TEST_F(WorldOfManyTest, a_world_larger_than_memory_works_and_comes_to_the_same_records) {
  keyed_ = testing::work;
  const auto run = [&](WorldOptions options) {
    bench_.emplace(testing::lab(testing::kToKeyed), machines_, options);
    std::vector<base::Hash> intents;
    for (int i = 0; i < 500; ++i) {
      intents.push_back(testing::opened(send(std::to_string(i), 1)).at(0));
      if (i % 50 != 0) continue;
      EXPECT_TRUE(bench().world().snapshot());
    }
    for (const base::Hash& intent : intents) bench().receipt(intent, R"({"ok":true})");
    return std::pair(bench().journal(), *bench().world().snapshot());
  };
  const auto small = run({{1, 1}, nullptr});
  EXPECT_EQ(small, run({}));
}

TEST_F(WorldOfManyTest, blobs_that_fail_stop_the_world_with_the_reason) {
  CountingBlobs blobs;
  World world(machines_, blobs);
  const base::Bytes definitions = value(testing::lab(testing::kToKeyed));
  Tick tick;
  tick.input = ApplyManifest{definitions};
  ASSERT_FALSE(world.reduce(tick).failure);
  const base::Bytes event = value(R"({"id":"a","n":1})");
  tick.input = EventArrived{"lab/Go@1", event, ""};
  ASSERT_FALSE(world.reduce(tick).failure);
  auto again = World::restore(machines_, blobs, *world.snapshot());
  ASSERT_TRUE(again);
  blobs.broken = true;
  const Outcome outcome = again->reduce(tick);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->to_string(), "the disk is gone");
}

TEST_F(WorldOfManyTest, a_question_that_cannot_be_answered_is_an_error_and_not_a_no) {
  keyed_ = testing::work;
  CountingBlobs blobs;
  World world(machines_, blobs);
  const base::Bytes definitions = value(testing::lab(testing::kToKeyed));
  Tick tick;
  tick.input = ApplyManifest{definitions};
  ASSERT_FALSE(world.reduce(tick).failure);
  const base::Bytes event = value(R"({"id":"a","n":1})");
  tick.input = EventArrived{"lab/Go@1", event, ""};
  const base::Hash intent = testing::opened(world.reduce(tick)).at(0);
  const base::Bytes snapshot = *world.snapshot();
  const base::Bytes key = value(R"("a")");
  const std::function<std::string(World&)> questions[] = {
      [&](World& asked) {
        const auto found = asked.find("lab/Keyed@1", key);
        return found ? "there" : found.error().to_string();
      },
      [&](World& asked) {
        const auto found = asked.find_intent(intent);
        return found ? "there" : found.error().to_string();
      },
      [&](World& asked) {
        const auto why = asked.why("lab/Keyed@1", key);
        return why ? "there" : why.error().to_string();
      },
      [&](World& asked) {
        const auto orphans = asked.orphans(1);
        return orphans ? "there" : orphans.error().to_string();
      },
  };
  for (const auto& ask : questions) {
    blobs.broken = false;
    auto whole = World::restore(machines_, blobs, snapshot);
    ASSERT_TRUE(whole);
    EXPECT_EQ(ask(*whole), "there");
    auto broken = World::restore(machines_, blobs, snapshot);
    ASSERT_TRUE(broken);
    blobs.broken = true;
    EXPECT_EQ(ask(*broken), "the disk is gone");
    blobs.broken = false;
    EXPECT_FALSE(broken->snapshot()) << "a world that has failed has none";
  }
}

}  // namespace
}  // namespace holdfast::kernel
