// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml_scalar.h"

#include <algorithm>
#include <charconv>

namespace holdfast::bundle {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) noexcept {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::size_t count_digits(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                  text.begin());
}

// 0x1f and 0o17.
std::optional<std::string> based_number(std::string_view text) {
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'o')) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] =
      std::from_chars(text.data() + 2, end, value, text[1] == 'x' ? 16 : 8);
  if (stop != end) return std::nullopt;
  return problem == std::errc() ? std::to_string(value) : std::string();
}

// JSON has no leading zeros, no leading '+', and a digit on both sides of the point.
std::optional<std::string> decimal_number(std::string_view text) {
  std::string json;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    if (text.front() == '-') json = "-";
    text.remove_prefix(1);
  }
  std::string_view whole = text.substr(0, count_digits(text));
  text.remove_prefix(whole.size());
  std::string_view fraction;
  const bool point = !text.empty() && text.front() == '.';
  if (point) {
    text.remove_prefix(1);
    fraction = text.substr(0, count_digits(text));
    text.remove_prefix(fraction.size());
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
  json += whole.empty() ? "0" : std::string(whole);
  if (point) json += "." + (fraction.empty() ? "0" : std::string(fraction));
  if (text.empty()) return json;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  json += 'e';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    json += text.front();
    text.remove_prefix(1);
  }
  if (text.empty() || count_digits(text) != text.size()) return std::nullopt;
  return json + std::string(text);
}

}  // namespace

std::optional<std::string> plain_scalar_to_json(std::string_view scalar) {
  if (is_one_of(scalar, {"", "~", "null", "Null", "NULL"})) return "null";
  if (is_one_of(scalar, {"true", "True", "TRUE"})) return "true";
  if (is_one_of(scalar, {"false", "False", "FALSE"})) return "false";
  const std::string_view unsigned_part =
      scalar.substr(scalar.front() == '-' || scalar.front() == '+' ? 1 : 0);
  if (is_one_of(unsigned_part, {".inf", ".Inf", ".INF"}) ||
      is_one_of(scalar, {".nan", ".NaN", ".NAN"}))
    return "";
  if (auto based = based_number(scalar)) return based;
  return decimal_number(scalar);
}

}  // namespace holdfast::bundle
