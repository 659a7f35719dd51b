// SPDX-License-Identifier: Apache-2.0
// What arguments must be, for every command alike.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "codec/scalar_text.h"

namespace holdfast::cli {

inline constexpr std::uint64_t kMostRecordNumber = 1'000'000'000'000'000'000;

// An empty word is a mistake of whoever wrote it, as "$ID" where nobody has set ID: it is not the
// same as no word.
inline CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? "is empty" : std::string(); },
                        "");
}

// A duration such as 15m or 7d as whole seconds. A bare number is a number of seconds.
inline CLI::Validator seconds_of_duration() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        std::int64_t ns = 0;
        if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return {};
        if (!codec::parse_duration(text, ns) || ns < 1'000'000'000)
          return "expected a duration from 1s on, such as 90s, 15m or 7d";
        text = std::to_string(ns / 1'000'000'000);
        return {};
      },
      "DURATION");
}

// The same as whole milliseconds, from 1ms on. A bare number is a number of milliseconds.
inline CLI::Validator milliseconds_of_duration() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        std::int64_t ns = 0;
        if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return {};
        if (!codec::parse_duration(text, ns) || ns < 1'000'000)
          return "expected a duration from 1ms on, such as 500ms, 5s or 1m";
        text = std::to_string(ns / 1'000'000);
        return {};
      },
      "DURATION");
}

}  // namespace holdfast::cli
