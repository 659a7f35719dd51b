// SPDX-License-Identifier: Apache-2.0
// JournalFiles: the journal as it lies in its folder, for looking at it. Nothing is changed and
// nothing is made durable: what a process that died has left is read as it is, and an opening may
// still cut it. To be used under the lock of the world.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/recovery.h"
#include "store/segment_table.h"
#include "store/world_folder.h"

namespace holdfast::store {

// Bytes that are not part of the journal, where zeros should be.
struct StrayBytes {
  std::string path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class JournalFiles {
 public:
  // Reads the headers of all segments, and all of the last one. kCorrupt: opening the journal would
  // be refused, and why; the error names the file and the offset.
  static base::Result<JournalFiles> open(const WorldFolder& world);

  RecordNumber first() const { return table_->first_record(); }
  RecordNumber last() const { return tail_.chain.next - 1; }
  std::size_t segment_count() const noexcept { return headers_.size(); }

  // Every batch that is read is checked.
  base::Result<std::unique_ptr<JournalReader>> read(RecordNumber from) const;

  // What opening would cut off the end and keep aside.
  std::optional<StrayBytes> torn_tail() const;

  // Behind the last batch of each segment but the last, which reading does not look at.
  // `is_void`: a recovery has written what counts of it elsewhere, and may leave anything there.
  struct Rest {
    StrayBytes bytes;
    bool is_void = false;
  };
  base::Result<std::vector<Rest>> rests() const;

 private:
  JournalFiles(const WorldFolder& world, std::vector<SegmentHeader> headers, Tail tail);

  base::Result<std::optional<Rest>> rest_of(const SegmentHeader& header,
                                            const SegmentHeader& next) const;

  env::Disk* disk_;
  std::string folder_;
  JournalId id_;
  std::vector<SegmentHeader> headers_;
  Tail tail_;
  std::shared_ptr<SegmentTable> table_ = std::make_shared<SegmentTable>();
};

}  // namespace holdfast::store
