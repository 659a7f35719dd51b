// SPDX-License-Identifier: Apache-2.0
#include "cli/log.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/output.h"
#include "cli/server_api.h"
#include "codec/printable.h"
#include "codec/time_text.h"
#include "codec/utf8.h"

namespace holdfast::cli {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames{"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 4> kLevelMarks{"DEBUG", "INFO ", "WARN ", "ERROR"};
constexpr std::size_t kMostEvents = 256;

// As JSON, with nothing in it that a terminal or a reader of lines obeys.
std::string quoted_text(std::string_view text) {
  return codec::is_utf8(text) ? codec::printable_json(json_text(text)) : json_text(printable(text));
}

// A text stands in quotes if one of these is in it, or nothing.
std::string text_or_quoted(std::string_view text, const char* quotes) {
  const std::string shown = printable(text);
  const bool is_plain = !shown.empty() && shown.find_first_of(quotes) == std::string::npos;
  return is_plain ? shown : quoted_text(text);
}

std::string field_text(std::string_view value) { return text_or_quoted(value, " =\"\\"); }

// A message stands before the fields and may quote a workflow's text: a part of it that looks like
// a field must not be read as one.
std::string message_text(std::string_view message) { return text_or_quoted(message, "=\"\\"); }

}  // namespace

base::Result<LogFormat> log_format_named(std::string_view name) {
  if (name == "text") return LogFormat::kText;
  if (name == "json") return LogFormat::kJson;
  return base::invalid("log-format", "expected text or json");
}

base::Result<LogLevel> log_level_named(std::string_view name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<LogLevel>(i);
  }
  return base::invalid("log-level", "expected debug, info, warning or error");
}

std::string text_of_line(const LogLine& line, std::uint64_t time_ns) {
  std::string text = codec::time_text(time_ns);
  text += ' ';
  text += kLevelMarks[static_cast<std::size_t>(line.level)];
  text += ' ' + message_text(line.message);
  if (!line.event.empty()) text += " event=" + field_text(line.event);
  for (const LogField& field : line.fields)
    text += ' ' + printable(field.name) + '=' + field_text(field.value);
  return text;
}

std::string json_of_line(const LogLine& line, std::uint64_t time_ns) {
  std::string text = R"({"time":)" + json_text(codec::time_text(time_ns)) + R"(,"level":")" +
                     std::string(kLevelNames[static_cast<std::size_t>(line.level)]) + '"';
  if (!line.event.empty()) text += R"(,"event":)" + quoted_text(line.event);
  text += R"(,"message":)" + quoted_text(line.message);
  for (const LogField& field : line.fields) {
    text += ',' + quoted_text(field.name) + ':';
    text += field.is_number ? field.value : quoted_text(field.value);
  }
  return text + '}';
}

bool Log::may_write(LogLine& line, std::uint64_t second) {
  if (line.event.empty()) return true;
  if (sampled_.size() >= kMostEvents && !sampled_.contains(line.event)) sampled_.clear();
  Sampled& sampled = sampled_[line.event];
  if (sampled.second != second) {
    sampled.second = second;
    sampled.written = 0;
  }
  if (sampled.written >= kMostPerSecond) {
    ++sampled.left_out;
    return false;
  }
  ++sampled.written;
  if (sampled.left_out != 0)
    line.fields.emplace_back("left_out_before", std::exchange(sampled.left_out, 0));
  return true;
}

void Log::write(LogLine line) {
  if (line.level < least_) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto time_ns =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  const std::lock_guard lock(mutex_);
  if (!may_write(line, time_ns / 1'000'000'000)) return;
  std::string text =
      format_ == LogFormat::kJson ? json_of_line(line, time_ns) : text_of_line(line, time_ns);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace holdfast::cli
