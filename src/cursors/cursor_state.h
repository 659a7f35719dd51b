// SPDX-License-Identifier: Apache-2.0
// CursorState: what is kept of one named cursor, and its bytes: a canonical CBOR list, with a
// version in front.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cursors/task_events.h"

namespace holdfast::cursors {

// An event that its consumer rejected too often.
struct Quarantined {
  EventId id = {};
  std::string reason = {};  // of the last rejection
  std::uint64_t time_ns = 0;
  bool is_replayed = false;  // it is given out again, before all others
  base::Bytes document = {};
};

struct CursorState {
  EventId next = {};                         // the first event that was not acknowledged
  std::uint32_t tries = 0;                   // rejections of that event
  std::string reason = {};                   // of the last one
  std::vector<Quarantined> quarantine = {};  // in the order of their ids
};

base::Bytes encode(const CursorState& state);
// kCorrupt: these are no such bytes.
base::Result<CursorState> decode_cursor(base::ByteView bytes);

}  // namespace holdfast::cursors
