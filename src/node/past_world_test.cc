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
