// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Check, goes_on_when_the_condition_holds) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, stops_the_process_and_names_condition_and_place) {
  EXPECT_EXIT(CHECK(1 + 1 == 3), ::testing::KilledBySignal(SIGABRT), "check_test.cc.*1 \\+ 1 == 3");
}

}  // namespace
}  // namespace holdfast::base
