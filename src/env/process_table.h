// SPDX-License-Identifier: Apache-2.0
// ProcessTable: what the system says of processes, so that one that has ended is not taken for
// another that has got its number since. Numbers come back soon: in a busy container within the
// hundredth of a second that a start time is told in, which is why there is a second mark.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::env {

struct ProcessFacts {
  // When it started, since the machine did, in whole ticks of the system's clock. Nothing: the
  // system does not tell us.
  std::optional<std::int64_t> start_ns = {};

  // Of its pidfd: no other process has it until the machine starts again. 0: the system does not
  // tell (Linux before 6.9).
  std::uint64_t pidfd_inode = 0;
};

class ProcessTable {
 public:
  virtual ~ProcessTable() = default;

  // Nothing: there is no such process, or it has ended and only waits to be waited for.
  virtual base::Result<std::optional<ProcessFacts>> find(std::int64_t id) = 0;

  // The same for somebody who only compares: where there is an inode, which costs little, the start
  // may be left out.
  virtual base::Result<std::optional<ProcessFacts>> find_mark(std::int64_t id) = 0;

  // Where our numbers mean something: a process in another one has others. Empty: not told.
  virtual std::string id_space() = 0;
};

std::unique_ptr<ProcessTable> posix_process_table();

struct StatLine {
  char state = '?';
  std::uint64_t start_ticks = 0;
};

// Of /proc/<id>/stat. The name of the program stands in parentheses and may hold some, and spaces:
// fields are counted behind the last one.
std::optional<StatLine> parse_stat_line(std::string_view line);

}  // namespace holdfast::env
