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
