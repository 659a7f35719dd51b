// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <limits>

#include "schedules/zone.h"

namespace holdfast::schedules {
namespace {

namespace chrono = std::chrono;

constexpr std::int64_t kDay = 86400;

class RuleText {
 public:
  explicit RuleText(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Letters, or anything between angle brackets.
  bool name() {
    if (take('<')) {
      const std::size_t end = rest_.find('>');
      if (end == std::string_view::npos) return false;
      rest_.remove_prefix(end + 1);
      return true;
    }
    std::size_t length = 0;
    while (length < rest_.size() && is_letter(rest_[length])) ++length;
    rest_.remove_prefix(length);
    return length >= 3;
  }

  bool number(std::int32_t low, std::int32_t high, std::int32_t& value) {
    value = 0;
    std::size_t digits = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9' && digits < 4) {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
      ++digits;
    }
    return digits > 0 && value >= low && value <= high;
  }

  // [+-]hh[:mm[:ss]]
  bool time(std::int32_t& seconds) {
    const bool is_negative = take('-');
    if (!is_negative) take('+');
    std::int32_t hours = 0;
    std::int32_t minutes = 0;
    std::int32_t rest = 0;
    if (!number(0, 167, hours)) return false;
    if (take(':') && !number(0, 59, minutes)) return false;
    if (take(':') && !number(0, 59, rest)) return false;
    seconds = hours * 3600 + minutes * 60 + rest;
    if (is_negative) seconds = -seconds;
    return true;
  }

  bool day(YearlyRule::Day& day) {
    if (take('M')) {
      day.kind = YearlyRule::Day::Kind::kWeekday;
      if (!number(1, 12, day.month) || !take('.') || !number(1, 5, day.week) || !take('.') ||
          !number(0, 6, day.day))
        return false;
    } else if (take('J')) {
      day.kind = YearlyRule::Day::Kind::kDayWithoutLeap;
      if (!number(1, 365, day.day)) return false;
    } else {
      day.kind = YearlyRule::Day::Kind::kDay;
      if (!number(0, 365, day.day)) return false;
    }
    return !take('/') || time(day.time);
  }

 private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  std::string_view rest_;
};

// Days since 1970.
std::int64_t day_in(const YearlyRule::Day& day, chrono::year year) {
  const chrono::sys_days first(year / 1 / 1);
  switch (day.kind) {
    case YearlyRule::Day::Kind::kDay:
      return (first + chrono::days(day.day)).time_since_epoch().count();
    case YearlyRule::Day::Kind::kDayWithoutLeap: {
      const bool after_leap_day = year.is_leap() && day.day >= 60;
      return (first + chrono::days(day.day - 1 + (after_leap_day ? 1 : 0)))
          .time_since_epoch()
          .count();
    }
    case YearlyRule::Day::Kind::kWeekday: break;
  }
  const auto month = year / chrono::month(static_cast<unsigned>(day.month));
  const chrono::weekday weekday(static_cast<unsigned>(day.day));
  if (day.week == 5)
    return chrono::sys_days(month / weekday[chrono::last]).time_since_epoch().count();
  return chrono::sys_days(month / weekday[static_cast<unsigned>(day.week)])
      .time_since_epoch()
      .count();
}

chrono::year year_of(std::int64_t utc) {
  return chrono::year_month_day(
             chrono::floor<chrono::days>(chrono::sys_seconds(chrono::seconds(utc))))
      .year();
}

struct Summer {
  std::int64_t begins;
  std::int64_t ends;
};

Summer summer_of(const YearlyRule& rule, chrono::year year) {
  return {day_in(rule.summer_begins, year) * kDay + rule.summer_begins.time - rule.standard,
          day_in(rule.summer_ends, year) * kDay + rule.summer_ends.time - rule.summer};
}

}  // namespace

std::optional<YearlyRule> YearlyRule::parse(std::string_view text) {
  RuleText in(text);
  YearlyRule rule;
  std::int32_t west = 0;
  if (!in.name() || !in.time(west)) return std::nullopt;
  rule.standard = -west;
  if (in.at_end()) return rule;
  rule.has_summer = true;
  rule.summer = rule.standard + 3600;
  if (!in.name()) return std::nullopt;
  if (!in.take(',')) {
    if (!in.time(west) || !in.take(',')) return std::nullopt;
    rule.summer = -west;
  }
  if (!in.day(rule.summer_begins) || !in.take(',') || !in.day(rule.summer_ends) || !in.at_end())
    return std::nullopt;
  return rule;
}

std::int32_t YearlyRule::offset_at(std::int64_t utc) const {
  if (!has_summer) return standard;
  // Local and UTC years differ around New Year; a summer that spans it belongs to both.
  const Summer found = summer_of(*this, year_of(utc + standard));
  const bool is_summer = found.begins <= found.ends ? utc >= found.begins && utc < found.ends
                                                    : utc >= found.begins || utc < found.ends;
  return is_summer ? summer : standard;
}

std::int64_t YearlyRule::change_after(std::int64_t utc) const {
  std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
  if (!has_summer) return nearest;
  const chrono::year year = year_of(utc);
  for (int ahead = -1; ahead <= 1; ++ahead) {
    const Summer found = summer_of(*this, year + chrono::years(ahead));
    for (const std::int64_t at : {found.begins, found.ends}) {
      if (at > utc && at < nearest) nearest = at;
    }
  }
  return nearest;
}

}  // namespace holdfast::schedules
