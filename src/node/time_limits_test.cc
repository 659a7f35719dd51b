// SPDX-License-Identifier: Apache-2.0
#include "node/time_limits.h"

#include <gtest/gtest.h>

#include <string>

#include "base/sha256.h"
#include "executors/echo.h"

namespace holdfast::node {
namespace {

base::Hash name(std::uint64_t n) { return base::sha256(base::as_bytes(std::to_string(n))); }

class TimeLimitsTest : public ::testing::Test {
 protected:
  void add(std::uint64_t n, std::uint64_t at_ns) { limits_.add(at_ns, name(n), {&echo_}); }
  bool takes(std::uint64_t now_ns, std::uint64_t n) {
    const auto over = limits_.take(now_ns);
    return over && over->intent == name(n) && over->limited.executor == &echo_;
  }
  executors::Echo echo_;
  TimeLimits limits_;
};

TEST_F(TimeLimitsTest, are_over_in_their_order_never_early_and_once) {
  add(1, 30);
  add(2, 10);
  add(3, 20);
  EXPECT_EQ(limits_.next_ns(), 10u);
  EXPECT_FALSE(limits_.take(9));
  EXPECT_TRUE(takes(10, 2));
  EXPECT_TRUE(takes(100, 3));
  EXPECT_TRUE(takes(100, 1));
  EXPECT_FALSE(limits_.take(1000));
  EXPECT_FALSE(limits_.next_ns());
}

TEST_F(TimeLimitsTest, one_that_is_told_again_is_over_once) {
  add(1, 10);
  add(1, 10);
  EXPECT_TRUE(takes(10, 1));
  EXPECT_FALSE(limits_.take(1000));
}

TEST_F(TimeLimitsTest, the_next_one_is_never_one_that_has_ended) {
  for (std::uint64_t n = 0; n < 5; ++n) add(n, n);
  limits_.remove(name(1));
  limits_.remove(name(0));
  limits_.remove(name(9));
  EXPECT_EQ(limits_.next_ns(), 2u);
  limits_.remove(name(3));
  EXPECT_TRUE(takes(100, 2));
  EXPECT_EQ(limits_.next_ns(), 4u);
  limits_.remove(name(4));
  EXPECT_FALSE(limits_.next_ns());
}

// An effect with a limit of a day that takes a millisecond is no reason to remember it for a day.
TEST_F(TimeLimitsTest, what_has_ended_takes_no_room_for_long) {
  add(0, 1);
  for (std::uint64_t n = 1; n < 20'000; ++n) {
    add(n, 1'000'000 + n);
    limits_.remove(name(n));
    ASSERT_LE(limits_.held(), 3000u);
  }
  EXPECT_TRUE(takes(1, 0));
  EXPECT_EQ(limits_.held(), 0u);
}

}  // namespace
}  // namespace holdfast::node
