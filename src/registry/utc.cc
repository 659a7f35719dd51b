// SPDX-License-Identifier: Apache-2.0
#include "registry/utc.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/check.h"
#include "codec/scalar_text.h"

namespace holdfast::registry {

std::string to_utc(std::int64_t wall_ns) {
  wall_ns = std::max<std::int64_t>(wall_ns, 0);
  const auto seconds = static_cast<time_t>(wall_ns / 1'000'000'000);
  tm parts{};
  CHECK(::gmtime_r(&seconds, &parts) != nullptr);
  char text[80];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(wall_ns / 1'000'000 % 1000));
  return text;
}

std::optional<std::int64_t> from_utc(std::string_view text) {
  std::uint64_t nanoseconds = 0;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!codec::parse_time(text, nanoseconds) || nanoseconds > kMost) return std::nullopt;
  return static_cast<std::int64_t>(nanoseconds);
}

}  // namespace holdfast::registry
