// SPDX-License-Identifier: Apache-2.0
#include "schedules/cron.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::schedules {
namespace {

namespace chrono = std::chrono;

constexpr std::int64_t kDaySeconds = 86400;
constexpr std::int64_t kMostDays = 12 * 366;  // February 29 comes after 8 years at the latest
constexpr std::size_t kMostText = 256;

constexpr std::array<std::string_view, 12> kMonths{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                   "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> kWeekdays{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};

struct Macro {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<Macro, 7> kMacros{{{"@yearly", "0 0 1 1 *"},
                                        {"@annually", "0 0 1 1 *"},
                                        {"@monthly", "0 0 1 * *"},
                                        {"@weekly", "0 0 * * 0"},
                                        {"@daily", "0 0 * * *"},
                                        {"@midnight", "0 0 * * *"},
                                        {"@hourly", "0 * * * *"}}};

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(separators);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

struct FieldKind {
  std::string_view name;
  int low;
  int high;
  const std::string_view* names = nullptr;  // of `low` and what follows
  std::size_t name_count = 0;
};
constexpr FieldKind kSecondField{"second", 0, 59};
constexpr FieldKind kMinuteField{"minute", 0, 59};
constexpr FieldKind kHourField{"hour", 0, 23};
constexpr FieldKind kDayField{"day of the month", 1, 31};
constexpr FieldKind kMonthField{"month", 1, 12, kMonths.data(), kMonths.size()};
constexpr FieldKind kWeekdayField{"day of the week", 0, 7, kWeekdays.data(), kWeekdays.size()};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (upper(a[i]) != b[i]) return false;
  }
  return true;
}

std::optional<int> number_in(std::string_view text, int most) {
  if (text.empty() || text.size() > 3) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value <= most ? std::optional(value) : std::nullopt;
}

std::optional<int> value_in(const FieldKind& kind, std::string_view text) {
  for (std::size_t i = 0; i < kind.name_count; ++i) {
    if (same_word(text, kind.names[i])) return kind.low + static_cast<int>(i);
  }
  const auto number = number_in(text, kind.high);
  return number && *number >= kind.low ? number : std::nullopt;
}

// One entry of a field's list: *, 5, 1-5, */15, 1-5/2, 5/15.
template <class Set>
bool add_entry(const FieldKind& kind, std::string_view text, Set&& set) {
  int step = 1;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto given = number_in(text.substr(slash + 1), kind.high - kind.low + 1);
    if (!given || *given == 0) return false;
    step = *given;
    text = text.substr(0, slash);
  }
  int first = kind.low;
  int last = kind.high;
  if (text != "*") {
    const std::size_t dash = text.find('-');
    const auto from = value_in(kind, text.substr(0, dash));
    if (!from) return false;
    first = *from;
    if (dash != std::string_view::npos) {
      const auto to = value_in(kind, text.substr(dash + 1));
      if (!to) return false;
      last = *to;
    } else if (slash == std::string_view::npos) {
      last = first;
    }
    if (last < first) return false;
  }
  for (int value = first; value <= last; value += step) set(value);
  return true;
}

base::Error bad_field(const FieldKind& kind, std::string_view text) {
  return base::invalid("cron", "'" + std::string(text) + "' is not a good " +
                                   std::string(kind.name) + "; use numbers from " +
                                   std::to_string(kind.low) + " to " + std::to_string(kind.high) +
                                   ", ranges (1-5), steps (*/15) and lists (1,15)");
}

template <class Set>
base::Result<void> take_field(const FieldKind& kind, std::string_view text, Set&& set) {
  const auto entries = parts_of(text, ",");
  if (entries.empty() || text.front() == ',' || text.back() == ',') return bad_field(kind, text);
  for (const std::string_view entry : entries) {
    if (!add_entry(kind, entry, set)) return bad_field(kind, text);
  }
  return {};
}

}  // namespace

base::Result<Cron> Cron::parse(std::string_view text) {
  if (text.size() > kMostText) return base::invalid("cron", "it is longer than 256 characters");
  for (const Macro& macro : kMacros) {
    if (text == macro.name) text = macro.text;
  }
  auto fields = parts_of(text, " \t");
  if (fields.size() == 5) fields.insert(fields.begin(), "0");
  if (fields.size() != 6) {
    return base::invalid("cron",
                         "it needs 5 fields (minute hour day month weekday), 6 with seconds in "
                         "front, or a name such as @daily");
  }
  Cron cron;
  const auto bit = [](auto& bits) {
    return [&bits](int value) { bits.set(static_cast<std::size_t>(value)); };
  };
  TRY(take_field(kSecondField, fields[0], bit(cron.seconds_)));
  TRY(take_field(kMinuteField, fields[1], bit(cron.minutes_)));
  TRY(take_field(kHourField, fields[2], bit(cron.hours_)));
  if (same_word(fields[3], "L")) {
    cron.has_last_day_ = true;
  } else {
    TRY(take_field(kDayField, fields[3], bit(cron.days_)));
  }
  TRY(take_field(kMonthField, fields[4], bit(cron.months_)));
  TRY(take_field(kWeekdayField, fields[5],
                 [&](int value) { cron.weekdays_.set(static_cast<std::size_t>(value % 7)); }));
  cron.is_any_hour_ = fields[2] == "*";
  cron.is_any_day_ = fields[3].front() == '*';
  cron.is_any_weekday_ = fields[5].front() == '*';
  // A date such as February 30 never comes.
  if (!cron.next(0, Zone::utc())) return base::invalid("cron", "no day fits it, in any year");
  return cron;
}

bool Cron::has_day(std::int64_t day) const {
  const chrono::sys_days days{chrono::days(day)};
  const chrono::year_month_day date(days);
  if (!months_[static_cast<unsigned>(date.month())]) return false;
  const bool fits_weekday = weekdays_[chrono::weekday(days).c_encoding()];
  const auto last = chrono::year_month_day_last(date.year(), date.month() / chrono::last).day();
  const bool fits_day =
      has_last_day_ ? date.day() == last : days_[static_cast<unsigned>(date.day())];
  if (is_any_day_ || is_any_weekday_) return fits_day && fits_weekday;
  return fits_day || fits_weekday;
}

std::optional<std::int64_t> Cron::next(std::int64_t utc, const Zone& zone) const {
  return is_any_hour_ ? next_by_hours(utc, zone) : next_by_clock(utc, zone);
}

// Later local times are never earlier instants, so whole hours and minutes can be passed over.
std::optional<std::int64_t> Cron::first_on_day(std::int64_t day, std::int64_t utc,
                                               const Zone& zone) const {
  const std::int64_t midnight = day * kDaySeconds;
  for (int hour = 0; hour < 24; ++hour) {
    if (!hours_[static_cast<std::size_t>(hour)]) continue;
    if (zone.instant_of(midnight + hour * 3600 + 3599) <= utc) continue;
    for (int minute = 0; minute < 60; ++minute) {
      if (!minutes_[static_cast<std::size_t>(minute)]) continue;
      if (zone.instant_of(midnight + hour * 3600 + minute * 60 + 59) <= utc) continue;
      for (int second = 0; second < 60; ++second) {
        if (!seconds_[static_cast<std::size_t>(second)]) continue;
        const std::int64_t due = zone.instant_of(midnight + hour * 3600 + minute * 60 + second);
        if (due > utc) return due;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> Cron::next_by_clock(std::int64_t utc, const Zone& zone) const {
  const auto day_of = [](std::int64_t local) {
    return chrono::floor<chrono::days>(chrono::seconds(local)).count();
  };
  // The day before, too: one that was left out by a change of clocks is due at the change.
  const std::int64_t first = day_of(utc + zone.offset_at(utc)) - 2;
  for (std::int64_t day = first; day < first + kMostDays; ++day) {
    if (!has_day(day)) continue;
    if (zone.instant_of((day + 1) * kDaySeconds - 1) <= utc) continue;
    if (const auto due = first_on_day(day, utc, zone)) return due;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Cron::next_by_hours(std::int64_t utc, const Zone& zone) const {
  const std::int64_t end = utc + kMostDays * kDaySeconds;
  std::int64_t at = utc + 1;
  while (at < end) {
    const std::int64_t change = zone.change_after(at);
    const std::int64_t local = at + zone.offset_at(at);
    const std::int64_t day = chrono::floor<chrono::days>(chrono::seconds(local)).count();
    const std::int64_t in_day = local - day * kDaySeconds;
    std::int64_t step = 0;  // to the next moment worth looking at
    if (!has_day(day)) {
      step = kDaySeconds - in_day;
    } else if (!minutes_[static_cast<std::size_t>(in_day % 3600 / 60)]) {
      step = 60 - in_day % 60;
    } else if (!seconds_[static_cast<std::size_t>(in_day % 60)]) {
      step = 1;
    } else {
      return at;
    }
    at = at + step < change ? at + step : change;
  }
  return std::nullopt;
}

}  // namespace holdfast::schedules
