// SPDX-License-Identifier: Apache-2.0
#include "executors/desk.h"

#include "executors/testing.h"

namespace holdfast::executors {
namespace {

using testing::name;

// Two wait, which is as many as may.
class FullDeskTest : public ::testing::Test {
 protected:
  FullDeskTest() {
    EXPECT_TRUE(desk_.start(intent(1), heard_));
    EXPECT_TRUE(desk_.start(intent(2), heard_));
  }
  kernel::OpenIntent intent(std::uint64_t n) { return testing::intent(n, params_); }

  const base::Bytes params_ = {0xf6};
  testing::Heard heard_;
  Desk desk_{2};
};

TEST_F(FullDeskTest, one_that_is_handed_out_makes_room) {
  EXPECT_FALSE(desk_.has_room(intent(3)));
  EXPECT_EQ(desk_.take(1).starts.size(), 1u);
  EXPECT_TRUE(desk_.has_room(intent(3)));
}

TEST_F(FullDeskTest, a_stop_of_one_that_waits_makes_room_without_a_receipt) {
  EXPECT_FALSE(desk_.has_room(intent(3)));
  EXPECT_FALSE(desk_.stop(name(2)));
  EXPECT_TRUE(desk_.has_room(intent(3)));
  EXPECT_EQ(heard_.count(2), 0u);
}

TEST_F(FullDeskTest, a_performer_that_dies_leaves_room) {
  EXPECT_FALSE(desk_.has_room(intent(3)));
  desk_.left("it broke");
  EXPECT_TRUE(desk_.has_room(intent(3))) << "for an error receipt";
}

}  // namespace
}  // namespace holdfast::executors
