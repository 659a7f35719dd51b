// SPDX-License-Identifier: Apache-2.0
#include "codec/time_text.h"

#include <chrono>

namespace holdfast::codec {
namespace {

// With zeros in front.
void append(std::string& text, std::uint64_t number, std::size_t digits) {
  const std::string plain = std::to_string(number);
  if (plain.size() < digits) text.append(digits - plain.size(), '0');
  text += plain;
}

}  // namespace

std::string time_text(std::uint64_t time_ns) {
  constexpr std::uint64_t kDayMs = 24ULL * 3600 * 1000;
  const std::uint64_t ms = time_ns / 1'000'000;
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<std::int64_t>(ms / kDayMs)))};
  const std::uint64_t second = ms % kDayMs / 1000;
  std::string text;
  append(text, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  append(text += '-', static_cast<unsigned>(date.month()), 2);
  append(text += '-', static_cast<unsigned>(date.day()), 2);
  append(text += 'T', second / 3600, 2);
  append(text += ':', second / 60 % 60, 2);
  append(text += ':', second % 60, 2);
  append(text += '.', ms % 1000, 3);
  return text + 'Z';
}

std::string duration_text(std::uint64_t duration_ns) {
  struct Unit {
    const char* name;
    std::uint64_t ns;
  };
  constexpr Unit kUnits[] = {{"d", 86'400'000'000'000},
                             {"h", 3'600'000'000'000},
                             {"m", 60'000'000'000},
                             {"s", 1'000'000'000},
                             {"ms", 1'000'000},
                             {"us", 1'000},
                             {"ns", 1}};
  std::string text;
  for (const Unit& unit : kUnits) {
    if (duration_ns >= unit.ns) text += std::to_string(duration_ns / unit.ns) + unit.name;
    duration_ns %= unit.ns;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace holdfast::codec
