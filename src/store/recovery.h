// SPDX-License-Identifier: Apache-2.0
// What the files of a journal tell about how it ended, before anything is written to them.
#pragma once

#include <string>
#include <vector>

#include "store/batch_scanner.h"
#include "store/segment_files.h"

namespace holdfast::store {

// How the last segment ends.
struct Tail {
  ChainPoint chain;  // behind the last batch that can be read
  std::uint64_t end = kBlockBytes;
  std::uint64_t used_end = kBlockBytes;  // beyond `end`: bytes that are no batch
  RecordNumber synced = 0;            // known to be durable: something was written after its sync
  std::uint64_t epoch = 0;            // the highest one
  std::optional<std::uint64_t> mark;  // where the last batch begins, if it is a mark

  bool is_torn() const noexcept { return used_end > end; }

  // Everything is known to be durable, and nothing was begun after that.
  bool is_clean() const noexcept { return chain.next == synced + 1 && !is_torn(); }

  // Where to go on then. A mark is written over: nothing tells whether it is durable itself.
  std::uint64_t resume() const noexcept { return mark.value_or(end); }
};

// Reads all of the segment. kCorrupt when a batch that cannot be read was synced once: it lies
// below the watermark, or something was written behind it.
base::Result<Tail> scan_tail(const Segment& segment, const std::string& path);

// The place behind the last batch that is known to be durable. Batches begin and end there: the
// watermark is always the last record of a batch.
struct DurableEnd {
  ChainPoint chain;
  std::uint64_t end = kBlockBytes;
};
base::Result<DurableEnd> find_durable_end(const Segment& segment, const std::string& path,
                                          const Tail& tail);

// The headers of all segments in the folder, in order, checked against each other.
base::Result<std::vector<SegmentHeader>> read_segment_headers(
    env::Disk& disk, const std::string& folder, const JournalId& journal,
    const std::vector<std::string>& names);

// Writes the batches from `from` up to `tail.end` again, as batches of the new segment. Gives the
// chain behind them and where they end.
base::Result<DurableEnd> copy_forward(const Segment& from, const DurableEnd& begin,
                                      const Tail& tail, env::File& into,
                                      const SegmentHeader& header);

}  // namespace holdfast::store
