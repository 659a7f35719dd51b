// SPDX-License-Identifier: Apache-2.0
// The stream of an instance, read from the records that touched it: the same entries under the same
// numbers as a server sends (node/stream_entries.h), for a world that nobody serves.
#pragma once

#include <functional>
#include <string>

#include "cli/world_source.h"
#include "steps/readable.h"

namespace holdfast::cli {

struct StreamEvent {
  std::string id;    // the number of an entry; empty: it has none
  std::string name;  // empty: an entry; otherwise "end" or "truncated"
  std::string data;  // JSON
};

struct RecordedPart {
  std::uint64_t after = 0;
  bool is_now = false;           // nothing of what is there
  steps::EntryKinds kinds = {};  // of entries
};

// Tells of the part, in order, as long as `tell` wants more. The last is an end, if the instance
// has ended and the end is in the part; the first says so if records are gone that may have been
// part of it. kInvalid: there are no such kinds of entries. kTooLarge: it has more records than are
// looked through.
base::Result<void> recorded_stream(WorldSource& source, const InstanceId& id,
                                   const RecordedPart& part,
                                   const std::function<bool(const StreamEvent&)>& tell);

}  // namespace holdfast::cli
