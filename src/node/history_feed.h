// SPDX-License-Identifier: Apache-2.0
// HistoryFeed: brings the index of instances up to the journal, in slices, so that the caller can
// do other things in between. It reads durable records only, so the index is never ahead of what
// a crash leaves.
#pragma once

#include <functional>
#include <memory>

#include "kernel/record_view.h"
#include "kernel/world.h"
#include "store/history_index.h"
#include "store/journal.h"

namespace holdfast::node {

// A slice ends with whichever is reached first.
struct SliceLimits {
  std::size_t records = 4096;
  std::size_t bytes = std::size_t{8} << 20;
};

class HistoryFeed {
 public:
  // Both must outlive it. An error for which store::needs_rebuild holds: the index is not of this
  // journal, or records that it would need next were trimmed. Nothing was changed.
  static base::Result<HistoryFeed> start(store::Journal& journal, store::HistoryIndex& index);

  // Is shown every record that it reads.
  std::function<void(const kernel::RecordView&)> shows;

  // Reads durable records up to the limits, and writes what they change. After kUnavailable
  // (no space) one may try again.
  base::Result<void> run(const SliceLimits& limits = {});

  // Durable records that the index has not seen.
  store::RecordNumber lag() const;

 private:
  HistoryFeed(store::Journal& journal, store::HistoryIndex& index)
      : journal_(&journal), index_(&index) {}

  base::Result<void> read_slice(const SliceLimits& limits);

  store::Journal* journal_;
  store::HistoryIndex* index_;
  std::unique_ptr<store::JournalReader> reader_;
  store::HistoryBatch batch_;
};

// Makes the index again from all records that there are, and puts it in place of the old one, which
// nobody may have open. `before`: the world of a snapshot, for what no record touches
// (node/seed_history.h); may be null. `progress` is told the last record that was read.
base::Result<store::HistoryCursor> rebuild_history(
    store::WorldFolder& world, store::Journal& journal, kernel::World* before = nullptr,
    const std::function<void(store::RecordNumber)>& progress = {});

}  // namespace holdfast::node
