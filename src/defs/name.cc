// SPDX-License-Identifier: Apache-2.0
#include "defs/name.h"

#include <algorithm>

namespace holdfast::defs {
namespace {

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) noexcept { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_mark(char c) noexcept { return c == '.' || c == '_' || c == '-'; }

bool is_namespace(std::string_view text) noexcept {
  return !text.empty() && is_lower(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || is_mark(c); });
}

bool is_local_name(std::string_view text) noexcept {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || is_mark(c); });
}

// A whole number from 1 that fits 32 bits, without leading zeros.
bool is_version(std::string_view text) noexcept {
  constexpr std::string_view kLargest = "4294967295";
  return !text.empty() && text.front() != '0' && std::all_of(text.begin(), text.end(), is_digit) &&
         (text.size() < kLargest.size() || (text.size() == kLargest.size() && text <= kLargest));
}

}  // namespace

std::optional<std::string> name_problem(std::string_view name) {
  if (name.size() > kMaxNameBytes)
    return "a name has at most " + std::to_string(kMaxNameBytes) + " bytes";
  const std::string quoted = "'" + std::string(name) + "' ";
  const std::size_t slash = name.find('/');
  const std::size_t at = name.rfind('@');
  if (slash == std::string_view::npos || at == std::string_view::npos || at < slash) {
    return quoted + "is not a name of the form namespace/name@version";
  }
  if (!is_namespace(name.substr(0, slash))) {
    return quoted +
           "has a bad namespace: lower-case letters, digits, '.', '_', '-', a letter first";
  }
  if (!is_version(name.substr(at + 1))) {
    return quoted + "has a bad version: a whole number from 1 after the '@'";
  }
  if (!is_local_name(name.substr(slash + 1, at - slash - 1))) {
    return quoted + "has a bad name part: letters, digits, '.', '_', '-', a letter first";
  }
  return std::nullopt;
}

bool is_reserved(std::string_view name) noexcept { return name.substr(0, 4) == "sys/"; }

}  // namespace holdfast::defs
