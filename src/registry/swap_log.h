// SPDX-License-Identifier: Apache-2.0
// The swap log: one JSON object a line, appended under the registry's lock, durable when it
// returns. A reason may be anybody's text: it is cut, and made so that a terminal can show it. A
// line that a crash cut short is removed by whoever writes the next one. When the log has grown
// large it becomes swap_log.1.jsonl, in place of the one that had that name.
//
// Nothing depends on the log. One that cannot be opened or read is renamed to
// swap_log.broken-N.jsonl, and a new one begins with a line that says so. When all of those names
// are taken, the line is not written and the caller is told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "registry/host.h"
#include "registry/state.h"

namespace holdfast::registry {

inline constexpr std::uint64_t kMaxLogBytes = std::uint64_t{4} << 20;
inline constexpr std::size_t kMostBrokenLogs = 9;
inline constexpr std::size_t kMaxReason = 2000;  // bytes of one; what is spelled out may be longer

enum class SwapEvent : std::uint8_t {
  kBegun,
  kRefused,
  kFinished,
  kAborted,
  kOrphanCleared,
  kPreemptRequested,
  kLogSetAside,
};

std::string_view to_string(SwapEvent event);

struct LogLine {
  SwapEvent event;
  std::string recipe = {};
  Identity who = {};                        // its nonce is the swap's id; empty: no swap
  std::string reason = {};                  // empty: none is given
  std::vector<std::string> workflows = {};  // that it is about
};

base::Result<void> append(const Site& site, const LogLine& line);

// Also where the log is there and cannot be written: it is set aside as well. Not on a full disk.
base::Result<void> append_or_begin_anew(const Site& site, const LogLine& line);

// Whether the last lines hold this event of this swap.
base::Result<bool> is_logged(const Site& site, SwapEvent event, std::string_view swap_id);

}  // namespace holdfast::registry
