// SPDX-License-Identifier: Apache-2.0
#include "registry/utc.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "codec/scalar_text.h"

namespace holdfast::registry {

// Every change writes two of them for every lease, so they are made by hand. 63 bits of nanoseconds
// end in the year 2262.
std::string to_utc(std::int64_t wall_ns) {
  using std::chrono::sys_days;
  const std::chrono::milliseconds time(std::max<std::int64_t>(wall_ns, 0) / 1'000'000);
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{sys_days(day)};
  const auto in_day = static_cast<unsigned>((time - day).count());
  std::string text = "0000-00-00T00:00:00.000Z";
  const auto put = [&](std::size_t end, std::size_t digits, unsigned value) {
    for (; digits > 0; --digits, value /= 10) text[--end] = static_cast<char>('0' + value % 10);
  };
  put(4, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put(7, 2, static_cast<unsigned>(date.month()));
  put(10, 2, static_cast<unsigned>(date.day()));
  put(13, 2, in_day / 3'600'000);
  put(16, 2, in_day / 60'000 % 60);
  put(19, 2, in_day / 1000 % 60);
  put(23, 3, in_day % 1000);
  return text;
}

std::optional<std::int64_t> from_utc(std::string_view text) {
  std::uint64_t nanoseconds = 0;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!codec::parse_time(text, nanoseconds) || nanoseconds > kMost) return std::nullopt;
  return static_cast<std::int64_t>(nanoseconds);
}

}  // namespace holdfast::registry
