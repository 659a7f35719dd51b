// SPDX-License-Identifier: Apache-2.0
// Reading the stream of an instance: what the index has of it, and behind that what the journal
// has, found by a walk back along the records that touched the instance. So a reader is not kept
// waiting by an index that lags. For the thread that has the index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/world.h"
#include "store/history_index.h"
#include "store/journal.h"

namespace holdfast::node {

inline constexpr std::size_t kMaxStreamPage = 1000;
inline constexpr std::size_t kMaxStreamPageBytes = std::size_t{1} << 20;  // or one entry

struct StreamQuery {
  kernel::InstanceName instance;
  std::uint64_t after = 0;  // the sequence of the last entry that the reader has; 0: none
  std::size_t limit = kMaxStreamPage;
  std::size_t bytes = kMaxStreamPageBytes;  // or one entry

  // The instance as it was when the reader asked; all of it is durable.
  store::RecordNumber last_record = 0;  // 0: it was not there
  std::string ended_as = {};            // its status, if it had ended
  store::RecordNumber durable = 0;      // the last record then
};

struct StreamEnd {
  std::uint64_t sequence = 0;
  std::string status;  // completed, failed, cancelled, deleted
};

struct StreamPage {
  std::vector<store::StreamEntry> entries;  // in order
  // Not 0: what was behind the reader's sequence up to this one is gone for good.
  std::uint64_t truncated = 0;
  std::optional<StreamEnd> end;  // nothing comes behind these entries, ever

  bool says_something() const noexcept { return !entries.empty() || truncated != 0 || end; }
};

// Nothing: the index lags too far behind to tell; ask again when it has gone on. kNotFound: there
// is no such instance.
base::Result<std::optional<StreamPage>> read_stream(store::Journal& journal,
                                                    store::HistoryIndex& index,
                                                    const StreamQuery& query);

}  // namespace holdfast::node
