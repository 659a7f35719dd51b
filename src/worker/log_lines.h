// SPDX-License-Identifier: Apache-2.0
// LogLines: lines of tasks that the server has not acknowledged yet, numbered per dispatch from 0.
// Bounded for each task and for all together; when a bound is passed the oldest lines of the task
// go, and the numbers show the gap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "worker/messages.h"

namespace holdfast::work {

class LogLines {
 public:
  // Cut to kMaxLineBytes, and made UTF-8.
  void add(const std::string& dispatch, std::uint64_t time_ns, bool is_error,
           std::string_view text);

  // Lines that were not taken before, in entries of at most kMaxLinesOfEntry, while there is room
  // for entries and bytes; both are reduced by what is taken. They count as sent from now on.
  void take(const std::string& dispatch, std::size_t& entries, std::size_t& bytes,
            std::vector<LogPart>& into);

  // The same for all dispatches.
  void take_all(std::size_t& entries, std::size_t& bytes, std::vector<LogPart>& into);

  bool has_unsent(const std::string& dispatch) const;
  bool has_unsent() const noexcept { return unsent_ != 0; }

  // The server expects `next`. What is before it is forgotten.
  void acknowledge(const std::string& dispatch, std::uint64_t next);

  // Nobody knows whether what was sent has arrived: all of it is to be sent again.
  void resend();

  void forget(const std::string& dispatch);

 private:
  struct Lines {
    std::deque<LogLine> waiting;
    std::uint64_t first = 0;  // the number of waiting[0]
    std::uint64_t sent = 0;   // what is below was sent
    std::size_t bytes = 0;

    std::uint64_t end() const { return first + waiting.size(); }
    std::size_t unsent() const { return end() > sent ? end() - std::max(sent, first) : 0; }
  };
  void drop_oldest(Lines& lines);
  template <class Change>
  void change(Lines& lines, Change change);

  std::map<std::string, Lines> all_;
  std::size_t bytes_ = 0;
  std::size_t unsent_ = 0;
};

}  // namespace holdfast::work
