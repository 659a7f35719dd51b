// SPDX-License-Identifier: Apache-2.0
#include "store/segment_table.h"

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

constexpr std::uint64_t kFar = SegmentTable::kLandmarkDistance;

SegmentTable::Landmark landmark(RecordNumber next, std::uint64_t offset) {
  return {{next, {}}, offset};
}

TEST(SegmentTable, record_is_in_the_last_segment_that_begins_before_it) {
  SegmentTable table;
  table.add({1, 10});
  table.add({2, 20});
  table.add({4, 20});  // 2 is void
  EXPECT_EQ(table.segment_of(9), std::nullopt);
  EXPECT_EQ(table.segment_of(10), 1u);
  EXPECT_EQ(table.segment_of(19), 1u);
  EXPECT_EQ(table.segment_of(20), 4u);
  EXPECT_EQ(table.segment_of(1000), 4u);
}

TEST(SegmentTable, last_segment_never_goes) {
  SegmentTable table;
  table.add({1, 1});
  table.add({2, 20});
  table.add({3, 30});
  table.give_up(19);
  EXPECT_FALSE(table.take_given_up(0));
  table.give_up(20);
  EXPECT_EQ(table.take_given_up(0)->number, 1u);
  EXPECT_FALSE(table.take_given_up(0));
  table.give_up(1000);
  EXPECT_EQ(table.take_given_up(0)->number, 2u);
  EXPECT_FALSE(table.take_given_up(0));
}

TEST(SegmentTable, what_is_pinned_is_given_up_but_not_taken) {
  SegmentTable table;
  for (const std::uint64_t number : {1u, 2u, 3u, 4u}) table.add({number, 10 * number});
  EXPECT_EQ(table.pin(25), 25u);
  EXPECT_EQ(table.pin(1), 10u) << "the first there is";
  table.unpin(10);
  table.give_up(40);
  EXPECT_EQ(table.first_record(), 40u);
  EXPECT_EQ(table.pin(1), 40u) << "what is given up is nobody's to pin any more";
  EXPECT_EQ(table.take_given_up(9)->number, 1u) << "which is before the pin";
  EXPECT_FALSE(table.take_given_up(9));
  EXPECT_EQ(table.segment_of(25), 2u);
  table.unpin(25);
  EXPECT_EQ(table.take_given_up(9)->number, 2u);
  EXPECT_EQ(table.take_given_up(9)->number, 3u);
  EXPECT_FALSE(table.take_given_up(9));
}

TEST(SegmentTable, no_more_is_held_than_may_be) {
  SegmentTable table;
  for (const std::uint64_t number : {1u, 2u, 3u, 4u}) table.add({number, 10 * number});
  table.pin(10);
  table.pin(30);
  table.give_up(40);
  EXPECT_FALSE(table.take_given_up(3));
  EXPECT_EQ(table.take_given_up(2)->number, 1u);
  EXPECT_EQ(table.take_given_up(2)->number, 2u) << "a pin that has lost its record holds nothing";
  EXPECT_FALSE(table.take_given_up(2));
  EXPECT_EQ(table.segment_of(30), 3u);
}

TEST(SegmentTable, what_is_put_back_is_not_given_up) {
  SegmentTable table;
  for (const std::uint64_t number : {1u, 2u, 3u}) table.add({number, 10 * number});
  table.give_up(30);
  auto first = table.take_given_up(0);
  ASSERT_TRUE(first);
  table.put_back(std::move(*first));
  EXPECT_EQ(table.first_record(), 10u);
  EXPECT_EQ(table.pin(1), 10u);
}

TEST(SegmentTable, landmarks_are_few_and_found_by_record) {
  SegmentTable table;
  table.add({1, 1});
  table.add({3, 500});
  table.add_landmark(1, landmark(40, 2 * kFar));
  table.add_landmark(1, landmark(20, kFar));
  table.add_landmark(1, landmark(25, kFar + 4096));      // too near to the one before
  table.add_landmark(1, landmark(39, 2 * kFar - 4096));  // too near to the one behind
  table.add_landmark(1, landmark(5, 4096));              // too near to the beginning
  table.add_landmark(2, landmark(7, kFar));              // of a segment that is not there
  EXPECT_FALSE(table.landmark_before(1, 19));
  EXPECT_EQ(table.landmark_before(1, 20)->offset, kFar);
  EXPECT_EQ(table.landmark_before(1, 39)->offset, kFar);
  EXPECT_EQ(table.landmark_before(1, 400)->offset, 2 * kFar);
  EXPECT_FALSE(table.landmark_before(3, 600));
  EXPECT_FALSE(table.landmark_before(2, 600));
}

}  // namespace
}  // namespace holdfast::store
