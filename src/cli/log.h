// SPDX-License-Identifier: Apache-2.0
// The log of a server, on standard error: one line each, as text or as JSON.
//
//   2026-11-18T06:30:00.123Z INFO  the world is ready event=recovered records=1042 ms=35
//   {"time":"2026-11-18T06:30:00.123Z","level":"info","event":"recovered","message":...}
//
// Of the same event at most kMostPerSecond lines are written in a second; the next line of it says
// how many were left out. Safe for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "holdfast/log.h"

namespace holdfast::cli {

enum class LogFormat : std::uint8_t { kText, kJson };

base::Result<LogFormat> log_format_named(std::string_view name);
base::Result<LogLevel> log_level_named(std::string_view name);

// A line as it is printed, without its end.
std::string text_of_line(const LogLine& line, std::uint64_t time_ns);
std::string json_of_line(const LogLine& line, std::uint64_t time_ns);

class Log {
 public:
  static constexpr std::uint64_t kMostPerSecond = 20;

  Log(LogFormat format, LogLevel least) : format_(format), least_(least) {}

  void write(LogLine line);

 private:
  struct Sampled {
    std::uint64_t second = 0;
    std::uint64_t written = 0;  // in this second
    std::uint64_t left_out = 0;
  };

  bool may_write(LogLine& line, std::uint64_t second);

  const LogFormat format_;
  const LogLevel least_;
  std::mutex mutex_;
  std::map<std::string, Sampled, std::less<>> sampled_;  // by event, of which there are few
};

}  // namespace holdfast::cli
