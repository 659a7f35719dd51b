// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_counts.h"

#include <gtest/gtest.h>

namespace holdfast::kernel {
namespace {

constexpr std::uint64_t kMinute = 60'000'000'000;

TEST(OpenCounts, counts_each_effect_and_knows_the_oldest) {
  OpenCounts counts;
  EXPECT_EQ(counts.open(3), 0u);
  EXPECT_EQ(counts.oldest_ns(3), std::nullopt);
  counts.add(3, kMinute);
  counts.add(3, 2 * kMinute);
  counts.add(3, 2 * kMinute);
  counts.add(0, 5 * kMinute);
  EXPECT_EQ(counts.open(3), 3u);
  EXPECT_EQ(counts.open(1), 0u);
  EXPECT_LE(*counts.oldest_ns(3), kMinute);
  EXPECT_GT(*counts.oldest_ns(3), kMinute - 2'000'000'000);
  counts.remove(3, kMinute);
  EXPECT_GT(*counts.oldest_ns(3), kMinute);
  counts.remove(3, 2 * kMinute);
  counts.remove(3, 2 * kMinute);
  EXPECT_EQ(counts.oldest_ns(3), std::nullopt);
  EXPECT_EQ(counts.open(0), 1u);
}

TEST(OpenCounts, takes_no_notice_of_what_it_has_not_counted) {
  OpenCounts counts;
  counts.remove(7, 0);
  counts.add(1, kMinute);
  counts.remove(1, 9 * kMinute);
  EXPECT_EQ(counts.open(1), 1u);
  counts.clear();
  EXPECT_EQ(counts.open(1), 0u);
}

}  // namespace
}  // namespace holdfast::kernel
