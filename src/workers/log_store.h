// SPDX-License-Identifier: Apache-2.0
// LogStore: the newest lines that tasks wrote, in memory and within bounds: of one task, and of all
// together. Lines carry a sequence number per task, so that a reader goes on where it was. When
// memory is short, the logs that were written to longest ago go first.
//
// One thread's own, or guarded by its owner.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workers/messages.h"

namespace holdfast::workers {

struct LogLimits {
  std::size_t lines_of_task = 10'000;
  std::size_t bytes_of_task = std::size_t{1} << 20;
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t readers_of_task = 64;
};

struct LogEntry {
  std::uint64_t sequence = 0;  // from 1, without gaps inside one log
  std::uint64_t attempt = 0;   // that wrote it
  std::uint64_t missing = 0;   // lines of this attempt before it that never arrived
  LogLine line = {};
};

struct LogPage {
  std::vector<LogEntry> entries = {};
  std::uint64_t first = 1;  // the oldest that is kept
  std::uint64_t next = 1;   // that the next line will have
};

class LogStore {
 public:
  using Reader = std::function<void()>;

  explicit LogStore(LogLimits limits = {}) : limits_(limits) {}

  // Lines of a dispatch of a task. `from` is the number of the first one in the dispatch. The
  // number that is expected next.
  std::uint64_t append(const std::string& task, std::uint64_t dispatch, std::uint64_t attempt,
                       std::uint64_t from, const std::vector<LogLine>& lines);
  // Calls those who wait for lines of this task: it may have ended.
  void nudge(std::string_view task);

  // Entries after a sequence number, at most `most`. Nothing: there is no log of this task.
  std::optional<LogPage> read(std::string_view task, std::uint64_t after, std::size_t most) const;

  // Calls `reader` once when there is something after `after`, or at a nudge. 0: too many wait, or
  // there is something already. Anything else is for `stop_waiting`.
  std::uint64_t wait(const std::string& task, std::uint64_t after, Reader reader);
  void stop_waiting(std::string_view task, std::uint64_t wait);

  // Readers that are to be called now, outside of any lock.
  std::vector<Reader> take_woken();

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Log {
    std::deque<LogEntry> entries;
    std::uint64_t next = 1;
    std::size_t bytes = 0;
    std::uint64_t dispatch = 0;  // the one that writes, and the line that it comes to
    std::uint64_t line = 0;
    std::map<std::uint64_t, Reader> readers = {};
    std::list<std::string>::iterator age;
  };
  using Logs = std::map<std::string, Log, std::less<>>;

  Log& log_of(const std::string& task);
  void wake(Log& log);
  void shorten(Log& log);
  void drop_if_empty(Logs::iterator log);
  void make_room(const Log& keep);

  LogLimits limits_;
  Logs logs_;
  std::list<std::string> by_age_;  // written to longest ago first
  std::vector<Reader> woken_;
  std::size_t bytes_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace holdfast::workers
