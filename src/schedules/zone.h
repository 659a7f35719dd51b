// SPDX-License-Identifier: Apache-2.0
// Zone: a time zone, read from the bytes of a compiled file of the tz database (TZif, RFC 8536). It
// knows the offset from UTC at any second from 1970 to 2500, and which instant a local time means.
// All times are seconds since 1970; a local time is the same count on a clock of that place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace holdfast::schedules {

// The part of a TZif file that holds after its last transition: a POSIX TZ string, for example
// "CET-1CEST,M3.5.0,M10.5.0/3".
struct YearlyRule {
  struct Day {
    enum class Kind : std::uint8_t { kWeekday, kDayWithoutLeap, kDay } kind = Kind::kWeekday;
    std::int32_t month = 1;    // kWeekday: 1 to 12
    std::int32_t week = 1;     // kWeekday: 1 to 5, which is the last
    std::int32_t day = 0;      // kWeekday: 0 is Sunday; otherwise the day of the year
    std::int32_t time = 7200;  // seconds after local midnight; may be negative or over a day
  };
  std::int32_t standard = 0;  // seconds east of UTC
  bool has_summer = false;
  std::int32_t summer = 0;
  Day summer_begins;
  Day summer_ends;

  static std::optional<YearlyRule> parse(std::string_view text);
  std::int32_t offset_at(std::int64_t utc) const;
  std::int64_t change_after(std::int64_t utc) const;  // far in the future if there is none
};

class Zone {
 public:
  static Zone utc() { return {}; }
  static base::Result<Zone> parse(base::ByteView tzif);

  std::int32_t offset_at(std::int64_t utc) const;

  // The first second after `utc` at which the offset may be another one.
  std::int64_t change_after(std::int64_t utc) const;

  // The instant that a clock of this place shows as `local`. Where clocks are put back and show it
  // twice: the first. Where they are put forward and never show it: the instant of the change.
  std::int64_t instant_of(std::int64_t local) const;

 private:
  struct Change {
    std::int64_t at;
    std::int32_t offset;
  };
  std::int32_t first_offset_ = 0;   // before the first change
  std::vector<Change> changes_;     // by time
  std::optional<YearlyRule> rule_;  // after the last change
};

// Whether this may be the name of a zone and nothing else, such as a path to another file.
bool is_zone_name(std::string_view name);

}  // namespace holdfast::schedules
