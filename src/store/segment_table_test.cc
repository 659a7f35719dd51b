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
  EXPECT_TRUE(table.segments_below(19).empty());
  EXPECT_EQ(table.segments_below(20), std::vector<std::uint64_t>{1});
  EXPECT_EQ(table.segments_below(1000), (std::vector<std::uint64_t>{1, 2}));
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
