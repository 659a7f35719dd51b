// SPDX-License-Identifier: Apache-2.0
#include "codec/time_text.h"

#include <gtest/gtest.h>

#include "codec/scalar_text.h"

namespace holdfast::codec {
namespace {

TEST(TimeText, is_read_back_as_the_same_millisecond) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(1'767'609'000'000'999'999), "2026-01-05T10:30:00.000Z");
  EXPECT_EQ(time_text(1'709'164'800'123'000'000), "2024-02-29T00:00:00.123Z");
  EXPECT_EQ(time_text(UINT64_MAX), "2554-07-21T23:34:33.709Z");
  for (std::uint64_t ns = 0; ns < UINT64_MAX / 2; ns += 7'777'777'777'777'777) {
    std::uint64_t read = 0;
    ASSERT_TRUE(parse_time(time_text(ns), read)) << ns;
    EXPECT_EQ(read, ns / 1'000'000 * 1'000'000);
  }
}

TEST(TimeText, a_duration_is_written_as_it_is_read) {
  for (const char* text : {"0s", "30s", "7d", "1h30m", "1d1ms", "250ms", "1d2h3m4s5ms6us7ns"}) {
    std::int64_t ns = 0;
    ASSERT_TRUE(parse_duration(text, ns)) << text;
    EXPECT_EQ(duration_text(static_cast<std::uint64_t>(ns)), text);
  }
}

}  // namespace
}  // namespace holdfast::codec
