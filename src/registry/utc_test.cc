// SPDX-License-Identifier: Apache-2.0
#include "registry/utc.h"

#include <gtest/gtest.h>
#include <time.h>

#include <limits>
#include <random>

namespace holdfast::registry {
namespace {

// What the C library makes of it.
std::string by_library(std::int64_t wall_ns) {
  const auto seconds = static_cast<time_t>(wall_ns / 1'000'000'000);
  tm parts{};
  EXPECT_NE(::gmtime_r(&seconds, &parts), nullptr);
  char date[40];
  EXPECT_NE(std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts), 0u);
  char text[60];
  std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(wall_ns / 1'000'000 % 1000));
  return text;
}

TEST(Utc, is_what_the_library_says_and_reads_back) {
  std::mt19937_64 choose(7);
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> times = {0, 999'999, 1'000'000, 951'782'400'000'000'000, kLast};
  for (int i = 0; i < 20'000; ++i) times.push_back(static_cast<std::int64_t>(choose() >> 1));
  for (const std::int64_t time : times) {
    const std::string text = to_utc(time);
    ASSERT_EQ(text, by_library(time)) << time;
    ASSERT_EQ(from_utc(text), time / 1'000'000 * 1'000'000) << text;
  }
}

TEST(Utc, time_before_the_beginning_is_the_beginning) {
  EXPECT_EQ(to_utc(-1), "1970-01-01T00:00:00.000Z");
  EXPECT_FALSE(from_utc("yesterday"));
}

}  // namespace
}  // namespace holdfast::registry
