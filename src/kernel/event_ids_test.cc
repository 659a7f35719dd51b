// SPDX-License-Identifier: Apache-2.0
// The ids of events: how long they are remembered, what that costs, and those of before.
#include "kernel/event_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::CountingBlobs;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kChunk = EventIds::kPerChunk;

KnownEvent event_of(std::uint64_t number) {
  return {number, static_cast<std::uint32_t>(number), 1, 0};
}

class EventIdsTest : public ::testing::Test {
 protected:
  static std::string id(std::uint64_t number) { return "id-" + std::to_string(number); }
  void add(std::uint64_t from, std::uint64_t to, std::uint64_t now_ns) {
    for (std::uint64_t i = from; i < to; ++i) ids_.add(id(i), event_of(i), now_ns);
  }
  bool knows(std::uint64_t number, std::uint64_t now_ns) {
    const auto found = ids_.find(blobs_, id(number), now_ns);
    EXPECT_TRUE(!found || found->record == number);
    return found.has_value();
  }
  // As snapshots have them.
  codec::Buffer chunks() {
    codec::Buffer out;
    EXPECT_TRUE(ids_.write_chunks(out, blobs_));
    return out;
  }

  CountingBlobs blobs_;
  EventIds ids_{{100 * kSecond, 1u << 20}};
};

TEST_F(EventIdsTest, are_remembered_for_the_window_and_not_much_longer) {
  add(0, kChunk, 10 * kSecond);
  add(kChunk, 2 * kChunk, 50 * kSecond);
  EXPECT_TRUE(knows(0, 110 * kSecond));
  EXPECT_FALSE(knows(0, 110 * kSecond + 1)) << "also if nothing came since";
  EXPECT_TRUE(knows(kChunk, 110 * kSecond + 1));
  add(2 * kChunk, 2 * kChunk + 1, 120 * kSecond);
  EXPECT_EQ(ids_.size(), kChunk + 1);
  EXPECT_EQ(ids_.forgotten_early(), 0u);
}

TEST_F(EventIdsTest, a_clock_that_goes_back_forgets_nothing) {
  add(0, kChunk, 200 * kSecond);
  add(kChunk, 2 * kChunk, 10 * kSecond);
  EXPECT_TRUE(knows(0, 10 * kSecond));
  EXPECT_TRUE(knows(0, 300 * kSecond));
}

TEST_F(EventIdsTest, too_many_of_them_are_forgotten_before_their_time_and_counted) {
  ids_ = EventIds({100 * kSecond, 3 * kChunk});
  add(0, 4 * kChunk, kSecond);
  EXPECT_EQ(ids_.forgotten_early(), kChunk);
  EXPECT_FALSE(knows(kChunk - 1, kSecond));
  EXPECT_TRUE(knows(kChunk, kSecond));
  EXPECT_EQ(ids_.size(), 3 * kChunk);
}

TEST_F(EventIdsTest, the_newest_of_an_id_that_came_again_is_the_one_that_is_known) {
  ids_.add("twice", event_of(1), kSecond);
  add(10, 10 + 3 * kChunk, kSecond);
  ids_.add("twice", event_of(2), 2 * kSecond);
  EXPECT_EQ(ids_.find(blobs_, "twice", 2 * kSecond)->record, 2u);
}

TEST_F(EventIdsTest, what_was_unhandled_is_written_only_where_there_is_any) {
  add(0, 1, kSecond);
  const codec::Buffer before = chunks();
  ids_.set_unhandled(1);
  const codec::Buffer after = chunks();
  EXPECT_FALSE(base::equal(before.view(), after.view()));
  EventIds back{{100 * kSecond, 1u << 20}};
  codec::Buffer times;
  ids_.write_times(times);
  ASSERT_TRUE(
      back.restore(blobs_, codec::View::of(after.view()), codec::View::of(times.view()), kSecond));
  EXPECT_EQ(back.find(blobs_, id(0), kSecond)->unhandled, 1u);
  // A snapshot of a program that did not keep it is as good; of anything else it is not.
  const auto same = [&](const codec::Buffer& a, const codec::Buffer& b) {
    const auto found =
        same_but_for_unhandled(blobs_, codec::View::of(a.view()), codec::View::of(b.view()));
    return found && *found;
  };
  EXPECT_TRUE(same(before, after));
  EXPECT_FALSE(same(after, before));
  add(1, 2, kSecond);
  EXPECT_FALSE(same(before, chunks()));
}

TEST_F(EventIdsTest, a_snapshot_writes_what_is_new_however_many_are_remembered) {
  add(0, 10 * kChunk + 5, kSecond);
  chunks();
  EXPECT_EQ(blobs_.puts, 11);
  EXPECT_EQ(ids_.chunks_in_memory(), 1u);
  blobs_.puts = 0;
  add(10 * kChunk + 5, 11 * kChunk, kSecond);
  chunks();
  EXPECT_EQ(blobs_.puts, 1);
  add(11 * kChunk, 200 * kChunk, kSecond);
  chunks();
  blobs_.puts = 0;
  add(200 * kChunk, 200 * kChunk + 1, kSecond);
  chunks();
  EXPECT_EQ(blobs_.puts, 1);
}

TEST_F(EventIdsTest, what_waits_for_a_snapshot_in_memory_is_bounded) {
  for (std::uint64_t i = 0; i < 200 * kChunk; ++i) {
    ids_.add(id(i), event_of(i), kSecond);
    ids_.trim(blobs_);
  }
  EXPECT_LE(ids_.chunks_in_memory(), 66u);
  EXPECT_TRUE(knows(7, kSecond));
  blobs_.broken = true;
  EXPECT_FALSE(knows(3 * kChunk, kSecond)) << "it cannot be read";
  EXPECT_TRUE(ids_.failure());
}

TEST_F(EventIdsTest, without_room_they_stay_in_memory_and_it_is_not_tried_with_every_tick) {
  blobs_.is_full = true;
  for (std::uint64_t i = 0; i < 100 * kChunk; ++i) {
    ids_.add(id(i), event_of(i), kSecond);
    ids_.trim(blobs_);
  }
  EXPECT_LT(blobs_.puts, 10);
  EXPECT_FALSE(ids_.failure());
  EXPECT_TRUE(knows(0, kSecond));
}

TEST_F(EventIdsTest, a_new_id_is_looked_for_without_reading_anything) {
  add(0, 100 * kChunk, kSecond);
  chunks();
  blobs_.gets = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i)
    EXPECT_FALSE(ids_.find(blobs_, "new-" + id(i), kSecond));
  EXPECT_EQ(blobs_.gets, 0);
}

TEST_F(EventIdsTest, come_back_as_they_were) {
  ids_ = EventIds({100 * kSecond, 5 * kChunk});
  add(0, 7 * kChunk + 9, kSecond);
  codec::Buffer times;
  const codec::Buffer list = chunks();
  ids_.write_times(times);
  EventIds again({100 * kSecond, 5 * kChunk});
  ASSERT_TRUE(
      again.restore(blobs_, codec::View::of(list.view()), codec::View::of(times.view()), 0));
  std::swap(ids_, again);
  EXPECT_FALSE(knows(0, kSecond));
  EXPECT_TRUE(knows(3 * kChunk, kSecond));
  EXPECT_TRUE(knows(7 * kChunk + 8, kSecond));
  EXPECT_FALSE(knows(7 * kChunk + 9, kSecond));
  codec::Buffer times_again;
  ids_.write_times(times_again);
  EXPECT_EQ(chunks().to_bytes(), list.to_bytes());
  EXPECT_EQ(times_again.to_bytes(), times.to_bytes());
}

class EventIdsInWorld : public testing::LabTest {};

// The snapshot of a world with three ids, as the last program wrote it that kept 65 536.
constexpr char kSnapshotOfBefore[] =
    "d9d9f78e01051aee6b2800005001010101010101010101010101010101582036bddeb1f0e27c038cef19e65acd7ed5"
    "84156dc7b643d324343c987617387a948c6b6c61622f4b657965644031582000000000000000000000000000000000"
    "0000000000000000000000000000000000006e6c61622f4e756d626572656440315820000000000000000000000000"
    "000000000000000000000000000000000000000000006c6c61622f53696e676c6540315820e1d28c6da7ba0cab1e84"
    "47f55640cf8ddb49e1b931c7d2fbf934e1ee7e1f927501018058200000000000000000000000000000000000000000"
    "000000000000000000000000008158208cb3b1bccdaa00c12686f0018f4f3bad14a8ac4cbefe546fe9d9ba1ab39daf"
    "b7808080";

TEST_F(EventIdsInWorld, a_snapshot_of_before_is_opened_and_its_ids_are_known) {
  begin(testing::kToSingle);
  for (int i = 0; i < 3; ++i) send("a", 1, "id-" + std::to_string(i));
  ASSERT_TRUE(bench().world().snapshot());  // the blobs are the same
  auto world = World::restore(machines_, bench().blobs(), *base::from_hex(kSnapshotOfBefore));
  ASSERT_TRUE(world) << world.error().to_string();
  const base::Bytes event = testing::value(go("a", 1));
  const auto send_at = [&](std::string_view id, std::uint64_t time_ns) {
    Tick tick;
    tick.time_ns = time_ns;
    tick.input = EventArrived{"lab/Go@1", event, id};
    return world->reduce(tick).answer;
  };
  EXPECT_EQ(std::get<Repeated>(send_at("id-1", 5 * kSecond)).record, 3u);
  EXPECT_TRUE(std::holds_alternative<Accepted>(send_at("id-3", 6 * kSecond)));
  auto snapshot = world->snapshot();
  world = World::restore(machines_, bench().blobs(), *snapshot);
  ASSERT_TRUE(world) << world.error().to_string();
  EXPECT_TRUE(std::holds_alternative<Repeated>(send_at("id-0", kEventIdWindowNs)));
  EXPECT_TRUE(std::holds_alternative<Repeated>(send_at("id-3", kEventIdWindowNs)));
  EXPECT_TRUE(std::holds_alternative<Accepted>(send_at("id-0", kEventIdWindowNs + 7 * kSecond)));
}

TEST_F(EventIdsInWorld, a_record_whose_id_was_forgotten_once_is_replayed) {
  begin(testing::kToSingle);
  bench_.emplace(testing::lab(testing::kToSingle), machines_, WorldOptions{{}, nullptr, {1, 1}});
  send("a", 1, "mine");
  EXPECT_TRUE(std::holds_alternative<Accepted>(send("a", 1, "mine").answer)) << "a window of 1 ns";
  testing::MemoryBlobs blobs;
  World world(machines_, blobs);
  for (const base::Bytes& record : bench().journal()) {
    const auto outcome = world.replay(record);
    ASSERT_TRUE(outcome) << outcome.error().to_string();
  }
}

// A source that keeps its events until it has marked them.
class EventSources : public testing::LabTest {
 protected:
  static constexpr std::uint64_t kDay = kEventIdWindowNs;

  Answer at(std::uint64_t time_ns, const decltype(Tick::input)& input) {
    Tick tick;
    tick.time_ns = time_ns;
    tick.input = input;
    const Outcome outcome = world_->reduce(tick);
    if (std::holds_alternative<Accepted>(outcome.answer))
      journal_.emplace_back(outcome.record.begin(), outcome.record.end());
    return outcome.answer;
  }
  Answer mark(std::uint64_t time_ns, std::string_view source, std::uint64_t record) {
    return at(time_ns, SourceMarked{source, record});
  }
  bool is_new(std::uint64_t time_ns, std::string_view id) {
    const Answer answer = at(time_ns, EventArrived{"lab/Go@1", event_, id});
    EXPECT_FALSE(std::holds_alternative<Refused>(answer));
    return std::holds_alternative<Accepted>(answer);
  }
  void start() {
    begin(testing::kToSingle);
    auto snapshot = bench().world().snapshot();
    ASSERT_TRUE(snapshot);
    first_ = *snapshot;
    open(first_);
  }
  void open(base::ByteView snapshot) {
    auto world = World::restore(machines_, bench().blobs(), snapshot);
    ASSERT_TRUE(world) << world.error().to_string();
    world_.emplace(std::move(*world));
  }

  const base::Bytes event_ = testing::value(go("a", 1));
  base::Bytes first_;
  std::vector<base::Bytes> journal_;
  std::optional<World> world_;
};

TEST_F(EventSources, ids_are_kept_until_they_are_marked_and_a_day_longer) {
  start();
  ASSERT_TRUE(std::holds_alternative<Accepted>(mark(kSecond, "pg/db", 0)));
  const std::uint64_t record = world_->next_record();
  EXPECT_TRUE(is_new(2 * kSecond, "pg/db/1"));
  EXPECT_TRUE(is_new(2 * kSecond, "pg/dbx/1")) << "of no source";
  EXPECT_FALSE(is_new(40 * kDay, "pg/db/1")) << "it is not marked";
  EXPECT_TRUE(is_new(40 * kDay, "pg/dbx/1"));
  mark(50 * kDay, "pg/db", record);
  EXPECT_FALSE(is_new(51 * kDay, "pg/db/1"));
  EXPECT_TRUE(is_new(51 * kDay + kSecond, "pg/db/1"));
}

TEST_F(EventSources, a_snapshot_and_a_replay_know_the_same) {
  start();
  mark(kSecond, "pg/b", 0);
  mark(kSecond, "pg/a", 0);
  for (std::uint64_t i = 0; i < EventIds::kPerChunk + 10; ++i)
    EXPECT_TRUE(is_new(2 * kSecond, "pg/b/" + std::to_string(i)));
  EXPECT_TRUE(is_new(2 * kSecond, "pg/a/1"));
  mark(3 * kDay, "pg/b", EventIds::kPerChunk / 2);
  const auto snapshot = world_->snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().to_string();
  open(*snapshot);
  EXPECT_EQ(*world_->snapshot(), *snapshot);
  EXPECT_FALSE(is_new(9 * kDay, "pg/b/0")) << "its chunk is not marked as a whole";
  EXPECT_FALSE(is_new(9 * kDay, "pg/b/" + std::to_string(EventIds::kPerChunk + 9)));
  EXPECT_FALSE(is_new(9 * kDay, "pg/a/1"));
  open(first_);
  for (const base::Bytes& record : journal_) {
    const auto outcome = world_->replay(record);
    ASSERT_TRUE(outcome) << outcome.error().to_string();
  }
  EXPECT_EQ(*world_->snapshot(), *snapshot);
}

TEST_F(EventSources, the_one_that_marked_longest_ago_makes_room) {
  start();
  for (std::uint64_t i = 0; i < kMostEventSources; ++i)
    mark((i + 1) * kSecond, "s" + std::to_string(i), 0);
  EXPECT_TRUE(is_new(50 * kSecond, "s0/x"));
  EXPECT_TRUE(is_new(50 * kSecond, "s1/x"));
  mark(60 * kSecond, "s0", 0);
  mark(61 * kSecond, "one more", 0);
  EXPECT_FALSE(is_new(62 * kSecond, "s0/x"));
  EXPECT_TRUE(is_new(62 * kSecond, "s1/x"));
}

TEST_F(EventSources, a_mark_names_a_source_and_a_record_that_is_there) {
  start();
  const auto code = [](const Answer& answer) { return std::get<Refused>(answer).code; };
  EXPECT_EQ(code(mark(1, "", 0)), base::ErrorCode::kInvalid);
  EXPECT_EQ(code(mark(1, std::string(256, 'x'), 0)), base::ErrorCode::kInvalid);
  EXPECT_EQ(code(mark(1, "pg/db", world_->next_record())), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace holdfast::kernel
