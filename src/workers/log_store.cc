// SPDX-License-Identifier: Apache-2.0
#include "workers/log_store.h"

#include <algorithm>
#include <utility>

namespace holdfast::workers {
namespace {

// What an entry takes beside its text.
constexpr std::size_t kEntryBytes = 64;

std::size_t size_of(const LogEntry& entry) { return entry.line.text.size() + kEntryBytes; }

}  // namespace

LogStore::Log& LogStore::log_of(const std::string& task) {
  const auto [at, is_new] = logs_.try_emplace(task);
  if (!is_new) by_age_.erase(at->second.age);
  at->second.age = by_age_.insert(by_age_.end(), task);
  return at->second;
}

std::uint64_t LogStore::append(const std::string& task, std::uint64_t dispatch,
                               std::uint64_t attempt, std::uint64_t from,
                               const std::vector<LogLine>& lines) {
  Log& log = log_of(task);
  if (log.dispatch != dispatch) {
    log.dispatch = dispatch;
    log.line = 0;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::uint64_t number = from + i;
    if (number < log.line) continue;
    LogEntry entry{log.next++, attempt, number - log.line, lines[i]};
    log.line = number + 1;
    log.bytes += size_of(entry);
    bytes_ += size_of(entry);
    log.entries.push_back(std::move(entry));
    shorten(log);
  }
  make_room(log);
  wake(log);
  return log.line;
}

void LogStore::shorten(Log& log) {
  while (log.entries.size() > limits_.lines_of_task ||
         (log.bytes > limits_.bytes_of_task && log.entries.size() > 1)) {
    const std::size_t size = size_of(log.entries.front());
    log.bytes -= size;
    bytes_ -= size;
    log.entries.pop_front();
  }
}

void LogStore::make_room(const Log& keep) {
  while (bytes_ > limits_.bytes && !by_age_.empty()) {
    const auto oldest = logs_.find(by_age_.front());
    if (&oldest->second == &keep) return;
    wake(oldest->second);
    bytes_ -= oldest->second.bytes;
    by_age_.pop_front();
    logs_.erase(oldest);
  }
}

void LogStore::nudge(std::string_view task) {
  const auto at = logs_.find(task);
  if (at == logs_.end()) return;
  wake(at->second);
  drop_if_empty(at);
}

// One that was only waited for leaves nothing.
void LogStore::drop_if_empty(Logs::iterator log) {
  if (log->second.next != 1 || !log->second.readers.empty()) return;
  by_age_.erase(log->second.age);
  logs_.erase(log);
}

std::optional<LogPage> LogStore::read(std::string_view task, std::uint64_t after,
                                      std::size_t most) const {
  const auto at = logs_.find(task);
  if (at == logs_.end()) return std::nullopt;
  const Log& log = at->second;
  LogPage page{.entries = {},
               .first = log.entries.empty() ? log.next : log.entries.front().sequence,
               .next = log.next};
  auto entry = std::ranges::upper_bound(log.entries, after, {}, &LogEntry::sequence);
  for (; entry != log.entries.end() && page.entries.size() < most; ++entry)
    page.entries.push_back(*entry);
  return page;
}

std::uint64_t LogStore::wait(const std::string& task, std::uint64_t after, Reader reader) {
  Log& log = log_of(task);
  if (log.next > after + 1 || log.readers.size() >= limits_.readers_of_task) return 0;
  log.readers.emplace(++waits_, std::move(reader));
  return waits_;
}

void LogStore::stop_waiting(std::string_view task, std::uint64_t wait) {
  const auto at = logs_.find(task);
  if (at == logs_.end() || at->second.readers.erase(wait) == 0) return;
  drop_if_empty(at);
}

void LogStore::wake(Log& log) {
  for (auto& [wait, reader] : log.readers) woken_.push_back(std::move(reader));
  log.readers.clear();
}

std::vector<LogStore::Reader> LogStore::take_woken() { return std::exchange(woken_, {}); }

}  // namespace holdfast::workers
