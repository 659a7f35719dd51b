// SPDX-License-Identifier: Apache-2.0
// LogLine: one thing that an operator would like to know, with its level and its fields. The
// program that takes the lines decides where and how they are printed.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

struct LogField {
  LogField(std::string_view the_name, std::string_view the_text)
      : name(the_name), value(the_text) {}
  template <std::unsigned_integral Number>
  LogField(std::string_view the_name, Number number)
      : name(the_name), value(std::to_string(number)), is_number(true) {}

  std::string name;
  std::string value;
  bool is_number = false;
};

struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string event;    // a word that stays the same, as "instance.failed"
  std::string message;  // a sentence
  std::vector<LogField> fields = {};
};

// From any thread. It must not wait for long, nor throw.
using LogSink = std::function<void(const LogLine& line)>;

}  // namespace holdfast
