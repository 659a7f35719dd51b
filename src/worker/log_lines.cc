// SPDX-License-Identifier: Apache-2.0
#include "worker/log_lines.h"

#include <algorithm>

#include "worker/limits.h"

namespace holdfast::work {
namespace {

// What a line takes in memory and in a request beside its text.
constexpr std::size_t kLineOverhead = 48;

std::size_t size_of(const LogLine& line) { return line.text.size() + kLineOverhead; }

}  // namespace

// Keeps the count of unsent lines right around whatever happens to one task's lines.
template <class Change>
void LogLines::change(Lines& lines, Change change) {
  unsent_ -= lines.unsent();
  change();
  unsent_ += lines.unsent();
}

void LogLines::drop_oldest(Lines& lines) {
  const std::size_t size = size_of(lines.waiting.front());
  lines.bytes -= size;
  bytes_ -= size;
  lines.waiting.pop_front();
  ++lines.first;
}

void LogLines::add(const std::string& dispatch, std::uint64_t time_ns, bool is_error,
                   std::string_view text) {
  Lines& lines = all_[dispatch];
  change(lines, [&] {
    lines.waiting.push_back({time_ns, is_error, plain_text(text, kMaxLineBytes)});
    const std::size_t size = size_of(lines.waiting.back());
    lines.bytes += size;
    bytes_ += size;
    while (!lines.waiting.empty() &&
           (lines.waiting.size() > kMaxWaitingLines || lines.bytes > kMaxWaitingLogBytes ||
            bytes_ > kMaxAllLogBytes))
      drop_oldest(lines);
  });
}

void LogLines::take(const std::string& dispatch, std::size_t& entries, std::size_t& bytes,
                    std::vector<LogPart>& into) {
  const auto found = all_.find(dispatch);
  if (found == all_.end()) return;
  Lines& lines = found->second;
  change(lines, [&] {
    lines.sent = std::max(lines.sent, lines.first);
    while (lines.sent < lines.end() && entries > 0) {
      LogPart part{dispatch, lines.sent, {}};
      while (lines.sent < lines.end() && part.lines.size() < kMaxLinesOfEntry) {
        const LogLine& line = lines.waiting[lines.sent - lines.first];
        if (size_of(line) > bytes) break;
        bytes -= size_of(line);
        part.lines.push_back(line);
        ++lines.sent;
      }
      if (part.lines.empty()) return;
      --entries;
      into.push_back(std::move(part));
    }
  });
}

void LogLines::take_all(std::size_t& entries, std::size_t& bytes, std::vector<LogPart>& into) {
  if (unsent_ == 0) return;
  for (const auto& [dispatch, lines] : all_) {
    if (entries == 0) return;
    if (lines.unsent() != 0) take(dispatch, entries, bytes, into);
  }
}

bool LogLines::has_unsent(const std::string& dispatch) const {
  const auto found = all_.find(dispatch);
  return found != all_.end() && found->second.unsent() != 0;
}

void LogLines::acknowledge(const std::string& dispatch, std::uint64_t next) {
  const auto found = all_.find(dispatch);
  if (found == all_.end()) return;
  Lines& lines = found->second;
  change(lines, [&] {
    while (!lines.waiting.empty() && lines.first < next) drop_oldest(lines);
  });
}

void LogLines::resend() {
  for (auto& each : all_) {
    Lines& lines = each.second;
    change(lines, [&lines] { lines.sent = lines.first; });
  }
}

void LogLines::forget(const std::string& dispatch) {
  const auto found = all_.find(dispatch);
  if (found == all_.end()) return;
  unsent_ -= found->second.unsent();
  bytes_ -= found->second.bytes;
  all_.erase(found);
}

}  // namespace holdfast::work
