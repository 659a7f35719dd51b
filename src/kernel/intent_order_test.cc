// SPDX-License-Identifier: Apache-2.0
#include "kernel/intent_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "base/sha256.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAreArray;

base::Hash hash_of(std::uint32_t n) {
  return base::sha256(base::ByteView(reinterpret_cast<const std::uint8_t*>(&n), sizeof n));
}

TEST(IntentOrderTest, it_stays_in_order_whatever_is_taken_out_and_added) {
  std::mt19937 random(7);
  for (const std::size_t most : {3u, 64u, 65u, 130u, 5000u}) {
    IntentOrder order;
    std::vector<base::Hash> expected;
    std::uint32_t next = 0;
    for (std::size_t round = 0; round < 4 * most; ++round) {
      const bool grows = round < most || round % 3 == 0;
      if (grows) {
        expected.push_back(hash_of(next++));
        order.push_back(expected.back());
      } else if (!expected.empty()) {
        const auto taken =
            expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
        order.remove(*taken);
        expected.erase(taken);
      }
      ASSERT_EQ(order.size(), expected.size());
      if (round % 97 == 0 || most < 100) {
        ASSERT_THAT(std::vector<base::Hash>(order.begin(), order.end()),
                    ElementsAreArray(expected));
      }
    }
    const IntentOrder copy = order;
    order.reserve(expected.size() + 1);
    for (const base::Hash& intent : expected) order.remove(intent);
    EXPECT_TRUE(order.empty());
    EXPECT_EQ(order.begin(), order.end());
    EXPECT_THAT(std::vector<base::Hash>(copy.begin(), copy.end()), ElementsAreArray(expected));
    EXPECT_EQ(copy.size(), expected.size());
  }
}

TEST(IntentOrderTest, one_that_is_not_in_it_changes_nothing) {
  IntentOrder order;
  order.remove(hash_of(0));
  for (std::uint32_t n = 1; n <= 100; ++n) order.push_back(hash_of(n));
  order.remove(hash_of(0));
  order.remove(hash_of(5));
  order.remove(hash_of(5));
  EXPECT_EQ(order.size(), 99u);
}

}  // namespace
}  // namespace holdfast::kernel
