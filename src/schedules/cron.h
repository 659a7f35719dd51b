// SPDX-License-Identifier: Apache-2.0
// Cron: a cron expression, and the times that it means in a time zone.
//
//   "30 2 * * *"      minute, hour, day of the month, month, day of the week
//   "*/15 30 2 * * *" the same with seconds in front
//   "@hourly", "@daily", "@weekly", "@monthly", "@yearly"
//
// Fields are lists of numbers, ranges and steps; months and weekdays have names (JAN, MON), Sunday
// is 0 and 7, and L in the day of the month is its last day. If both days are restricted, one of
// them is enough.
//
// Where clocks are put forward, a time of day that does not exist is due at the moment of the
// change; where they are put back, a time that comes twice is due the first time. An expression
// whose hour is * goes by the hours that pass: none is left out, and the one that comes twice
// counts twice.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "schedules/zone.h"

namespace holdfast::schedules {

class Cron {
 public:
  static base::Result<Cron> parse(std::string_view text);

  // The first time after `utc`; nothing: there is none in the next 12 years. In seconds.
  std::optional<std::int64_t> next(std::int64_t utc, const Zone& zone) const;

 private:
  bool has_day(std::int64_t day) const;  // days since 1970
  std::optional<std::int64_t> next_by_clock(std::int64_t utc, const Zone& zone) const;
  std::optional<std::int64_t> next_by_hours(std::int64_t utc, const Zone& zone) const;
  std::optional<std::int64_t> first_on_day(std::int64_t day, std::int64_t utc,
                                           const Zone& zone) const;

  std::bitset<60> seconds_;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool has_last_day_ = false;
  bool is_any_day_ = false;
  bool is_any_weekday_ = false;
  bool is_any_hour_ = false;
};

}  // namespace holdfast::schedules
