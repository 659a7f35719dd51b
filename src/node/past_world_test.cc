// SPDX-License-Identifier: Apache-2.0
#include "node/past_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/record_view.h"
#include "node/testing_world.h"

namespace holdfast::node {
namespace {

class PastWorldTest : public testing::LabWorldTest {
 protected:
  // The states behind each record, as they were.
  void live(std::size_t ticks) {
    begin();
    states_.push_back(state());
    for (std::size_t i = 0; i < ticks; ++i) {
      send("order-" + std::to_string(i % 5), i);
      states_.push_back(state());
    }
  }

  base::Result<std::unique_ptr<PastWorld>> past(store::RecordNumber record) {
    journal_.emplace(store::JournalFiles::open(open_->folder()).take());
    return PastWorld::at(*journal_, nullptr, machines_, record);
  }

  std::vector<base::Bytes> states_;  // behind record 1, 2, ...
  std::optional<store::JournalFiles> journal_;
};

TEST_F(PastWorldTest, is_the_world_as_it_was_behind_every_record) {
  live(20);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    auto found = past(i + 1);
    ASSERT_TRUE(found) << found.error().to_string();
    EXPECT_EQ((*found)->world().snapshot().take(), states_[i]) << "record " << i + 1;
    EXPECT_EQ((*found)->replayed(), i + 1);
  }
}

// With its snapshots, on a disk of which it is the only reader.
class PastSnapshotTest : public PastWorldTest {
 protected:
  base::Result<std::unique_ptr<PastWorld>> past_from_snapshot(store::RecordNumber record) {
    journal_.emplace(store::JournalFiles::open(open_->folder()).take());
    blobs_ = store::BlobsLook::open(store::WorldPlace::of(open_->folder())).take();
    return PastWorld::at(*journal_, blobs_.get(), machines_, record);
  }
  // Snapshots before records 6 and 11, of 15.
  void live_with_snapshots() {
    live(4);
    take_snapshot();
    for (std::size_t i = 0; i < 5; ++i) send("more", i), states_.push_back(state());
    take_snapshot();
    for (std::size_t i = 0; i < 5; ++i) send("most", i), states_.push_back(state());
  }

  std::unique_ptr<store::BlobsLook> blobs_;
};

TEST_F(PastSnapshotTest, the_nearest_at_or_before_the_record_is_begun_with) {
  live_with_snapshots();
  for (store::RecordNumber record = 5; record <= 15; ++record) {
    auto found = past_from_snapshot(record);
    ASSERT_TRUE(found) << found.error().to_string();
    ASSERT_TRUE((*found)->begun_with()) << "record " << record;
    EXPECT_EQ((*found)->begun_with()->next_record, record < 10 ? 6u : 11u) << "record " << record;
    EXPECT_EQ((*found)->replayed(), record < 10 ? record - 5 : record - 10);
    EXPECT_EQ((*found)->world().snapshot().take(), states_[record - 1]) << "record " << record;
  }
}

TEST_F(PastSnapshotTest, one_of_another_course_of_events_is_refused_and_not_passed_over) {
  live_with_snapshots();
  auto entries = open_->snapshots().list().take();
  auto& database = open_->blobs().database();
  auto change = database.prepare("UPDATE snapshots SET lineage = zeroblob(32)").take();
  ASSERT_TRUE(change.step());
  const auto found = past_from_snapshot(12);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_THAT(found.error().message(), ::testing::HasSubstr("was taken after another record"));
}

TEST_F(PastSnapshotTest, one_that_lost_its_bytes_gives_way_to_the_one_before) {
  live_with_snapshots();
  auto& database = open_->blobs().database();
  auto change = database
                    .prepare(
                        "DELETE FROM blobs WHERE hash = (SELECT hash FROM snapshots "
                        "ORDER BY number DESC LIMIT 1)")
                    .take();
  ASSERT_TRUE(change.step());
  auto found = past_from_snapshot(12);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ((*found)->begun_with()->next_record, 6u);
  EXPECT_EQ((*found)->world().snapshot().take(), states_[11]);
}

// The nearest snapshot turns out to lack something when records behind it have been replayed.
class PastBudgetTest : public PastSnapshotTest {
 protected:
  void live_with_a_snapshot_that_may_lack_something() {
    live_with_snapshots();
    for (std::size_t i = 0; i < 5; ++i) send("order-" + std::to_string(i), 9);
    journal_.emplace(store::JournalFiles::open(open_->folder()).take());
    blobs_ = store::BlobsLook::open(store::WorldPlace::of(open_->folder())).take();
    source_ = PastSource::of(*journal_, blobs_.get()).take();
    source_.blob = [this](const base::Hash& hash) -> base::Result<base::Bytes> {
      if (questions_ >= lacks_from_ && questions_ < lacks_to_)
        return base::Error(base::ErrorCode::kNotFound, "a blob that is not there");
      return blobs_->get(hash);
    };
  }
  base::Result<std::unique_ptr<PastWorld>> look(PastLimits limits) {
    questions_ = 0;
    if (!limits.goes_on)
      limits.goes_on = [this]() -> base::Result<void> {
        ++questions_;
        return {};
      };
    return PastWorld::at(source_, machines_, 20, limits);
  }

  // Of those that a look without limits reads: then it begins again with the snapshot before.
  void lose_last_blob() {
    ASSERT_TRUE(look({}));
    for (lacks_from_ = questions_; lacks_from_ > 0; --lacks_from_) {
      lacks_to_ = lacks_from_ + 1;
      const auto found = look({});
      ASSERT_TRUE(found) << found.error().to_string();
      if ((*found)->begun_with()->next_record == 6) return;
    }
    FAIL() << "no blob is read";
  }

  PastSource source_;
  std::uint64_t questions_ = 0;
  std::uint64_t lacks_from_ = 0;
  std::uint64_t lacks_to_ = 0;
};

TEST_F(PastBudgetTest, is_one_for_all_snapshots_that_are_tried) {
  live_with_a_snapshot_that_may_lack_something();
  auto nearest = look({});
  ASSERT_TRUE(nearest) << nearest.error().to_string();
  ASSERT_EQ((*nearest)->replayed(), 10u);
  // The last blob that is read behind it is not there.
  lose_last_blob();
  auto found = look({});
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_EQ((*found)->begun_with()->next_record, 6u) << "the one before";
  ASSERT_EQ((*found)->replayed(), 15u);

  const auto refused = look({.records = 15});
  ASSERT_FALSE(refused) << "15, and those that were replayed in vain";
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_THAT(refused.error().message(),
              ::testing::MatchesRegex("15 records are left to replay behind [0-9]+ that were; at "
                                      "most 15 are replayed"));
  EXPECT_TRUE(look({.records = 25}));
}

TEST_F(PastBudgetTest, bytes_are_counted_over_all_snapshots_too) {
  live_with_a_snapshot_that_may_lack_something();
  // As much as the way from the older snapshot takes alone.
  const std::vector<store::SnapshotEntry> snapshots = source_.snapshots;
  source_.snapshots.erase(source_.snapshots.begin());
  std::uint64_t enough = 64;
  while (!look({.bytes = enough})) enough += 64;
  source_.snapshots = snapshots;
  lose_last_blob();
  const auto refused = look({.bytes = enough});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("bytes of records and blobs"));
  EXPECT_TRUE(look({.bytes = 3 * enough}));
}

TEST_F(PastWorldTest, goes_on_within_what_is_left) {
  live(10);
  journal_.emplace(store::JournalFiles::open(open_->folder()).take());
  const auto source = PastSource::of(*journal_, nullptr).take();
  auto found = PastWorld::at(source, machines_, 3, {.records = 5});
  ASSERT_TRUE(found);
  ASSERT_TRUE((*found)->go_on(source, 5));
  const auto refused = (*found)->go_on(source, 6);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "1 records are left to replay behind 5 that were; at most 5 are replayed");
}

TEST_F(PastWorldTest, how_far_away_enough_is_shows_on_the_way) {
  live(10);
  journal_.emplace(store::JournalFiles::open(open_->folder()).take());
  const auto source = PastSource::of(*journal_, nullptr).take();
  const auto is_behind = [](store::RecordNumber record) {
    return [record](const kernel::World& world) { return world.next_record() > record; };
  };
  auto found = PastWorld::at(source, machines_, 3, {.records = 5});
  ASSERT_TRUE(found);
  const auto rests = (*found)->go_on_until(source, 11, is_behind(5));
  ASSERT_TRUE(rests) << rests.error().to_string();
  EXPECT_TRUE(*rests);
  EXPECT_EQ((*found)->world().next_record(), 6u);
  const auto refused = (*found)->go_on_until(source, 11, is_behind(6));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
}

TEST_F(PastSnapshotTest,
       the_first_moment_is_that_of_the_oldest_snapshot_where_the_journal_is_trimmed) {
  live(46);
  const auto source = [this] {
    journal_.emplace(store::JournalFiles::open(open_->folder()).take());
    blobs_ = store::BlobsLook::open(store::WorldPlace::of(open_->folder())).take();
    return PastSource::of(*journal_, blobs_.get()).take();
  };
  take_snapshot();
  EXPECT_EQ(source().first_moment(), 0u) << "nothing is trimmed";
  for (int i = 0; i < 40; ++i) send("more", 1);
  take_snapshot();
  ASSERT_GT(source().first, 1u);
  const auto first = source().first_moment();
  ASSERT_EQ(first, 47u) << "the snapshot is behind it";
  ASSERT_LT(source().first, *first);
  EXPECT_TRUE(past_from_snapshot(*first));
  const auto before = past_from_snapshot(*first - 1);
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code(), base::ErrorCode::kNotFound);
  PastSource bare = source();
  bare.snapshots.clear();
  EXPECT_EQ(bare.first_moment(), std::nullopt);
}

// The clock is looked at before every record: a few that take long do not add up unseen.
TEST_F(PastWorldTest, records_that_take_long_are_stopped_between_two_of_them) {
  live(40);
  std::uint64_t now_s = 0;
  keyed_ = [&now_s](const auto& in, auto& out) {
    ++now_s;
    kernel::testing::work(in, out);
  };
  journal_.emplace(store::JournalFiles::open(open_->folder()).take());
  const auto source = PastSource::of(*journal_, nullptr).take();
  PastLimits limits;
  limits.goes_on = [&now_s]() -> base::Result<void> {
    if (now_s < 3) return {};
    return base::Error(base::ErrorCode::kTooLarge, "takes too long");
  };
  const auto found = PastWorld::at(source, machines_, 41, limits);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().to_string(), "takes too long");
  EXPECT_EQ(now_s, 3u);
}

TEST_F(PastWorldTest, goes_on_from_where_it_is) {
  live(10);
  auto found = past(3);
  ASSERT_TRUE(found);
  ASSERT_TRUE((*found)->go_on(*journal_, 7));
  EXPECT_EQ((*found)->world().snapshot().take(), states_[6]);
  ASSERT_TRUE((*found)->go_on(*journal_, 5)) << "it does not go back";
  EXPECT_EQ((*found)->world().next_record(), 8u);
}

TEST_F(PastWorldTest, a_record_that_is_not_there_is_not_found) {
  live(2);
  const auto found = past(99);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), base::ErrorCode::kNotFound);
  EXPECT_EQ(found.error().to_string(), "record 99: the journal has records 1 to 3");
}

TEST_F(PastWorldTest, code_that_comes_to_something_else_is_found_out) {
  live(3);
  keyed_ = kernel::testing::keep;
  const auto found = past(4);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), base::ErrorCode::kConflict);
}

TEST_F(PastWorldTest, every_instance_is_visited_and_those_that_have_not_ended_are_counted) {
  live(20);
  std::vector<std::string> keys;
  ASSERT_TRUE(open_->world().visit_instances([&](std::string_view, const kernel::Cell& cell) {
    keys.push_back(kernel::key_text(cell.key));
    return true;
  }));
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("\"order-0\"", "\"order-1\"", "\"order-2\"",
                                                    "\"order-3\"", "\"order-4\""));
  EXPECT_EQ(open_->world().active_instances(), 5u);
  std::size_t seen = 0;
  ASSERT_TRUE(open_->world().visit_instances(
      [&](std::string_view, const kernel::Cell&) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2u) << "the visitor says whether to go on";
}

// Equal ticks, told to a world and to one that was made of it, open different intents.
TEST_F(PastWorldTest, another_world_opens_intents_of_its_own) {
  live(5);
  auto found = past(6);
  ASSERT_TRUE(found);
  kernel::Entropy origin;
  origin.fill(7);
  const base::Bytes snapshot = (*found)->world().snapshot_as_another(origin).take();
  auto other = kernel::World::restore(machines_, (*found)->blobs(), snapshot);
  ASSERT_TRUE(other) << other.error().to_string();
  EXPECT_EQ(other->open_intents(), open_->world().open_intents());
  const base::Bytes value = kernel::testing::value(R"({"id":"new","n":1})");
  kernel::Tick tick;
  tick.time_ns = 99'000'000'000;
  tick.input = kernel::EventArrived{"lab/Go@1", value, {}};
  const auto there = kernel::testing::opened(other->reduce(tick));
  const auto here = kernel::testing::opened(open_->world().reduce(tick));
  ASSERT_EQ(there.size(), here.size());
  ASSERT_FALSE(here.empty());
  EXPECT_NE(there[0], here[0]);
  EXPECT_FALSE((*found)->world().snapshot()) << "the one that it was made of is of no use";
}

}  // namespace
}  // namespace holdfast::node
