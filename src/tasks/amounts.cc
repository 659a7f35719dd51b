// SPDX-License-Identifier: Apache-2.0
#include "tasks/amounts.h"

#include <array>
#include <cmath>
#include <string_view>

#include "codec/scalar_text.h"
#include "tasks/limits.h"

namespace holdfast::tasks {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::uint64_t kThousand = 1000;
constexpr std::uint64_t kMillion = kThousand * kThousand;
constexpr std::array<Unit, 11> kMemoryUnits{{
    {"", 1},
    {"k", kThousand},
    {"M", kMillion},
    {"G", kMillion* kThousand},
    {"T", kMillion* kMillion},
    {"P", kMillion* kMillion* kThousand},
    {"Ki", std::uint64_t{1} << 10},
    {"Mi", std::uint64_t{1} << 20},
    {"Gi", std::uint64_t{1} << 30},
    {"Ti", std::uint64_t{1} << 40},
    {"Pi", std::uint64_t{1} << 50},
}};

// A number with at most three decimals, in thousandths, and what stands behind it.
struct Leading {
  std::uint64_t thousandths = 0;
  std::string_view rest;
};

std::optional<Leading> leading_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 15;
  Leading read;
  std::size_t at = 0;
  const auto take_digits = [&] {
    const std::size_t begin = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (at - begin >= kMostDigits) return std::size_t{0};
      read.thousandths = read.thousandths * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
    return at - begin;
  };
  if (take_digits() == 0) return std::nullopt;
  std::size_t decimals = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    decimals = take_digits();
    if (decimals == 0 || decimals > 3) return std::nullopt;
  }
  for (; decimals < 3; ++decimals) read.thousandths *= 10;
  read.rest = text.substr(at);
  return read;
}

std::optional<std::uint64_t> at_most(std::uint64_t value, std::uint64_t most) {
  if (value > most) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> memory_of_text(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  std::string_view unit = number->rest;
  if (unit.ends_with('B')) unit.remove_suffix(1);
  if (unit == "K") unit = "k";
  for (const Unit& known : kMemoryUnits) {
    if (known.name != unit) continue;
    std::uint64_t thousandths = 0;
    if (__builtin_mul_overflow(number->thousandths, known.size, &thousandths)) return std::nullopt;
    if (thousandths % kThousand != 0) return std::nullopt;
    return at_most(thousandths / kThousand, kMaxMemoryBytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> memory_of(codec::View value) {
  if (const auto bytes = value.nat()) return at_most(*bytes, kMaxMemoryBytes);
  if (const auto text = value.text()) return memory_of_text(*text);
  return std::nullopt;
}

std::optional<std::uint64_t> cpu_milli_of(codec::View value) {
  if (const auto text = value.text()) {
    const auto number = leading_number(*text);
    if (!number) return std::nullopt;
    if (number->rest.empty()) return at_most(number->thousandths, kMaxCpuMilli);
    if (number->rest != "m" || number->thousandths % kThousand != 0) return std::nullopt;
    return at_most(number->thousandths / kThousand, kMaxCpuMilli);
  }
  const auto real = value.real();
  if (!real || !(*real >= 0) || *real * 1000 > static_cast<double>(kMaxCpuMilli))
    return std::nullopt;
  const double milli = std::round(*real * 1000);
  if (std::abs(*real * 1000 - milli) > 1e-6) return std::nullopt;
  return static_cast<std::uint64_t>(milli);
}

std::optional<std::uint64_t> count_of(codec::View value) {
  if (const auto number = value.nat()) return number;
  const auto text = value.text();
  if (!text) return std::nullopt;
  const auto number = leading_number(*text);
  if (!number || !number->rest.empty() || number->thousandths % kThousand != 0) return std::nullopt;
  return number->thousandths / kThousand;
}

std::optional<std::uint64_t> duration_ns_of(codec::View value) {
  const auto text = value.text();
  std::int64_t nanoseconds = 0;
  if (!text || !codec::parse_duration(*text, nanoseconds) || nanoseconds <= 0) return std::nullopt;
  return at_most(static_cast<std::uint64_t>(nanoseconds), kMaxDurationNs);
}

}  // namespace holdfast::tasks
