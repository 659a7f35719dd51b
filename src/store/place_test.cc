// SPDX-License-Identifier: Apache-2.0
#include "store/place.h"

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

TEST(Place, file_systems_that_cannot_keep_a_promise_are_refused) {
  EXPECT_TRUE(check_place("w", env::file_system_from(0xef53)));
  const auto network = check_place("w", env::file_system_from(0x6969));
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().code(), base::ErrorCode::kConflict);
  EXPECT_EQ(network.error().to_string(),
            "w: is on a file system (nfs) that another machine keeps: locks and syncs may not hold "
            "there");
  EXPECT_FALSE(check_place("w", env::file_system_from(0x794c7630)));
  EXPECT_FALSE(check_place("w", env::file_system_from(0x01021994)));
}

}  // namespace
}  // namespace holdfast::store
