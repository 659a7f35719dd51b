// SPDX-License-Identifier: Apache-2.0
#include "codec/scalar_text.h"

#include <cstddef>
#include <limits>

namespace holdfast::codec {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_lower_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// A hexadecimal digit in lower case; 0 for any other character.
constexpr std::array<char, 256> kLowerHex = [] {
  std::array<char, 256> table{};
  for (const char c : {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'})
    table[static_cast<unsigned char>(c)] = c;
  for (const char c : {'a', 'b', 'c', 'd', 'e', 'f'}) {
    table[static_cast<unsigned char>(c)] = c;
    table[static_cast<unsigned char>(c - 'a' + 'A')] = c;
  }
  return table;
}();

// Takes characters off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}
  bool at_end() const noexcept { return text_.empty(); }
  bool at_digit() const noexcept { return !text_.empty() && is_digit(text_.front()); }
  bool take(char c) noexcept {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) noexcept {
    if (text_.substr(0, word.size()) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  int digit() noexcept {
    const int value = text_.front() - '0';
    text_.remove_prefix(1);
    return value;
  }
  // Exactly `count` digits.
  bool fixed(int count, int& value) noexcept {
    value = 0;
    for (int i = 0; i < count; ++i) {
      if (!at_digit()) return false;
      value = value * 10 + digit();
    }
    return true;
  }

 private:
  std::string_view text_;
};

constexpr int kDecimalDigits = 34;
constexpr int kLargestExponent = 6144;
constexpr int kSmallestExponent = -6176;

// A decimal as digits d1 d2 ... dn (d1 and dn not zero) times ten to the power of `exponent`.
struct Decimal {
  bool negative = false;
  ShortText digits;
  std::int64_t exponent = 0;
};

bool parse_decimal(std::string_view text, Decimal& out) noexcept {
  Scanner scan(text);
  if (scan.take('-')) {
    out.negative = true;
  } else {
    scan.take('+');
  }
  std::int64_t zeros = 0;  // seen behind the last digit that is kept; they may turn out trailing
  const auto digits = [&](std::int64_t per_digit) {
    if (!scan.at_digit()) return false;
    while (scan.at_digit()) {
      const int digit = scan.digit();
      out.exponent += per_digit;
      if (digit == 0) {
        zeros += out.digits.view().empty() ? 0 : 1;
        continue;
      }
      const auto kept = static_cast<std::int64_t>(out.digits.view().size());
      if (kept + zeros + 1 > kDecimalDigits) return false;
      out.digits.push_repeated('0', static_cast<int>(zeros));
      out.digits.push(static_cast<char>('0' + digit));
      zeros = 0;
    }
    return true;
  };
  if (!digits(0)) return false;
  if (scan.take('.') && !digits(-1)) return false;
  out.exponent += zeros;
  if (scan.take('e') || scan.take('E')) {
    const bool negative = scan.take('-');
    if (!negative) scan.take('+');
    if (!scan.at_digit()) return false;
    std::int64_t exponent = 0;
    while (scan.at_digit()) {
      exponent = exponent * 10 + scan.digit();
      if (exponent > 1'000'000'000) return false;
    }
    out.exponent += negative ? -exponent : exponent;
  }
  return scan.at_end();
}

void push_number(ShortText& out, std::int64_t value) noexcept {
  if (value < 0) out.push('-');
  std::uint64_t magnitude =
      value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  while (count > 0) out.push(digits[--count]);
}

}  // namespace

bool canonical_dec128(std::string_view text, ShortText& out) noexcept {
  Decimal decimal;
  if (!parse_decimal(text, decimal)) return false;
  const std::string_view digits = decimal.digits.view();
  if (digits.empty()) {
    out.push('0');
    return true;
  }
  const auto count = static_cast<std::int64_t>(digits.size());
  const std::int64_t leading = decimal.exponent + count - 1;  // the power of ten of the first digit
  if (leading > kLargestExponent || decimal.exponent < kSmallestExponent) return false;
  if (decimal.negative) out.push('-');
  if (leading < -7 || leading >= kDecimalDigits) {
    out.push(digits.front());
    if (count > 1) {
      out.push('.');
      out.push(digits.substr(1));
    }
    out.push('e');
    push_number(out, leading);
  } else if (decimal.exponent >= 0) {
    out.push(digits);
    out.push_repeated('0', static_cast<int>(decimal.exponent));
  } else if (leading >= 0) {
    out.push(digits.substr(0, static_cast<std::size_t>(leading) + 1));
    out.push('.');
    out.push(digits.substr(static_cast<std::size_t>(leading) + 1));
  } else {
    out.push("0.");
    out.push_repeated('0', static_cast<int>(-leading - 1));
    out.push(digits);
  }
  return true;
}

bool canonical_uuid(std::string_view text, ShortText& out) noexcept {
  if (text.size() != 36) return false;
  for (const std::size_t dash : {8u, 13u, 18u, 23u}) {
    if (text[dash] != '-') return false;
  }
  std::array<char, 36> lower;
  int others = 0;  // characters that are no digits; the dashes are four
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const char digit = kLowerHex[static_cast<unsigned char>(text[i])];
    others += digit == 0 ? 1 : 0;
    lower[i] = digit == 0 ? '-' : digit;
  }
  out.push({lower.data(), lower.size()});
  return others == 4;
}

bool is_hash_text(std::string_view text) noexcept {
  if (text.size() != 71 || text.substr(0, 7) != "sha256:") return false;
  for (const char c : text.substr(7)) {
    if (!is_lower_hex(c)) return false;
  }
  return true;
}

bool parse_time(std::string_view text, std::uint64_t& nanoseconds) noexcept {
  Scanner scan(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const bool date = scan.fixed(4, year) && scan.take('-') && scan.fixed(2, month) &&
                    scan.take('-') && scan.fixed(2, day);
  if (!date || !(scan.take('T') || scan.take('t') || scan.take(' '))) return false;
  if (!(scan.fixed(2, hour) && scan.take(':') && scan.fixed(2, minute) && scan.take(':') &&
        scan.fixed(2, second))) {
    return false;
  }
  const bool leap_year = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 ||
      day > kDays[month - 1] + (month == 2 && leap_year ? 1 : 0))
    return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  std::int64_t fraction = 0;
  if (scan.take('.')) {
    if (!scan.at_digit()) return false;
    std::int64_t unit = 100'000'000;
    for (; scan.at_digit(); unit /= 10) {
      if (unit == 0) return false;
      fraction += unit * scan.digit();
    }
  }
  std::int64_t offset_minutes = 0;
  if (!scan.take('Z') && !scan.take('z')) {
    const bool west = scan.take('-');
    int hours = 0, minutes = 0;
    if (!west && !scan.take('+')) return false;
    if (!scan.fixed(2, hours) || !scan.take(':') || !scan.fixed(2, minutes) || hours > 23 ||
        minutes > 59)
      return false;
    offset_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
  }
  if (!scan.at_end()) return false;
  // Days since 1970-01-01, counting years from March so that the leap day comes last.
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t days = y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
  const std::int64_t seconds =
      days * 86400 + hour * 3600 + minute * 60 + second - offset_minutes * 60;
  constexpr std::int64_t kLastSecond =
      std::numeric_limits<std::uint64_t>::max() / 1'000'000'000 - 1;
  if (seconds < 0 || seconds > kLastSecond) return false;
  nanoseconds =
      static_cast<std::uint64_t>(seconds) * 1'000'000'000 + static_cast<std::uint64_t>(fraction);
  return true;
}

bool parse_duration(std::string_view text, std::int64_t& nanoseconds) noexcept {
  struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
  };
  // Two-letter units stand before the one-letter units that they begin with.
  constexpr Unit kUnits[] = {{"ms", 1'000'000},
                             {"us", 1'000},
                             {"ns", 1},
                             {"d", 86'400'000'000'000},
                             {"h", 3'600'000'000'000},
                             {"m", 60'000'000'000},
                             {"s", 1'000'000'000}};
  Scanner scan(text);
  const bool negative = scan.take('-');
  std::int64_t total = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  do {
    if (!scan.at_digit()) return false;
    std::int64_t count = 0;
    while (scan.at_digit()) {
      if (__builtin_mul_overflow(count, 10, &count) ||
          __builtin_add_overflow(count, scan.digit(), &count))
        return false;
    }
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (scan.take(candidate.name)) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr || unit->nanoseconds >= smallest) return false;
    smallest = unit->nanoseconds;
    if (__builtin_mul_overflow(count, unit->nanoseconds, &count) ||
        __builtin_add_overflow(total, count, &total)) {
      return false;
    }
  } while (!scan.at_end());
  nanoseconds = negative ? -total : total;
  return true;
}

}  // namespace holdfast::codec
