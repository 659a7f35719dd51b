// SPDX-License-Identifier: Apache-2.0
#include "demo/refund/refund.h"

#include <gtest/gtest.h>

#include "holdfast/test_world.h"

namespace demo {
namespace {

using namespace std::chrono_literals;
using holdfast::InstanceStatus;

class Refunds : public ::testing::Test {
 protected:
  void SetUp() override {
    auto world = holdfast::testing::World::open({refund_module()}, refund_handlers());
    ASSERT_TRUE(world) << world.error().message;
    world_ = std::move(*world);
  }
  void request(const char* id, const char* order, std::uint64_t cents) {
    ASSERT_TRUE(world_->send(RefundRequested{id, order, cents}));
    world_->advance(1s);  // the bank is asked again
  }
  // The note that it was closed with, or the word for what it is at.
  std::string note(const char* id) {
    const auto refund = world_->query<RefundCase>(id);
    if (!refund) return refund.error().message;
    const auto closed = refund->result_as<RefundClosed>();
    return closed ? closed->note : refund->state.status;
  }
  std::unique_ptr<holdfast::testing::World> world_;
};

TEST_F(Refunds, a_small_amount_is_paid_without_asking) {
  request("r", "o-1", 5000);
  EXPECT_EQ(note("r"), "paid");
}

TEST_F(Refunds, for_a_large_one_a_manager_is_asked) {
  request("r", "o-1", 5001);
  EXPECT_EQ(note("r"), "idle");
  std::string question;
  for (const auto& entry : world_->stream<RefundCase>("r")) {
    if (const auto asked = entry.as<RefundQuestion>()) question = asked->text;
  }
  EXPECT_EQ(question, "give back 50.01 for order o-1?");
  ASSERT_TRUE(world_->send(RefundDecided{"r", "customer", true}));
  EXPECT_EQ(note("r"), "idle") << "only a manager decides";
  ASSERT_TRUE(world_->send(RefundDecided{"r", "manager", true}));
  EXPECT_EQ(note("r"), "paid");
}

TEST_F(Refunds, a_manager_who_says_nothing_for_three_days_ends_it) {
  request("r", "o-1", 9900);
  world_->advance(71h);
  EXPECT_EQ(note("r"), "idle");
  world_->advance(2h);
  EXPECT_EQ(note("r"), "given up: nobody answered in time");
}

TEST_F(Refunds, of_a_lost_order_nothing_is_paid) {
  request("r", "lost", 100);
  EXPECT_EQ(note("r"), "given up: nobody knows of this order");
}

TEST_F(Refunds, a_bank_that_is_closed_is_asked_again_each_hour_of_a_day) {
  request("r", "sunday", 100);
  world_->advance(22h);
  EXPECT_EQ(note("r"), "running");
  world_->advance(2h);
  EXPECT_EQ(note("r"), "given up: it opens again on Monday");
}

}  // namespace
}  // namespace demo
