// SPDX-License-Identifier: Apache-2.0
// For tests: time zones of this machine, and times as people write them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "codec/scalar_text.h"
#include "schedules/spec.h"

namespace holdfast::schedules::testing {

inline base::Bytes zone_bytes(const std::string& name) {
  std::ifstream file("/usr/share/zoneinfo/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name << ": the package tzdata is missing";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Zone zone_named(const std::string& name) {
  if (name == "UTC") return Zone::utc();
  auto zone = Zone::parse(zone_bytes(name));
  EXPECT_TRUE(zone) << name << ": " << zone.error().to_string();
  return zone ? *zone : Zone::utc();
}

// RFC 3339, in nanoseconds.
inline std::uint64_t ns_at(std::string_view text) {
  std::uint64_t ns = 0;
  EXPECT_TRUE(codec::parse_time(text, ns)) << text;
  return ns;
}
inline std::int64_t s_at(std::string_view text) {
  return static_cast<std::int64_t>(ns_at(text) / kSecondNs);
}

inline std::string text_of_s(std::int64_t utc) {
  return due_text(static_cast<std::uint64_t>(utc) * kSecondNs);
}

}  // namespace holdfast::schedules::testing
