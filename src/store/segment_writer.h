// SPDX-License-Identifier: Apache-2.0
// SegmentWriter: writes batches into the last segment, one behind the other, each synced before the
// next. An error leaves it as it was; whether to go on after one is for the caller.
#pragma once

#include <optional>

#include "store/batch_scanner.h"
#include "store/segment_files.h"

namespace holdfast::store {

class SegmentWriter {
 public:
  // All before `end` is durable.
  SegmentWriter(Segment segment, std::uint64_t end, ChainPoint chain, std::uint64_t epoch)
      : segment_(std::move(segment)), end_(end), chain_(chain), epoch_(epoch) {}

  // There is always room for a mark behind the batches.
  bool has_room_for(std::size_t batch_bytes) const noexcept {
    return end_ + batch_bytes + kBlockBytes <= segment_.header.bytes;
  }
  static std::uint64_t segment_bytes_for(std::size_t batch_bytes) noexcept {
    return kBlockBytes + batch_bytes + kBlockBytes;
  }

  // No records: a mark. kUnavailable (no space): the next write goes over what there is of this
  // one.
  base::Result<void> write(std::span<const base::ByteView> records);
  base::Result<void> sync();

  // A write that found no space may have left bytes behind the last batch, which would look like
  // damage once the segment is full. Writes zeros over them; they are not synced yet.
  bool has_failed_write() const noexcept { return dirty_end_ != 0; }
  base::Result<void> clear_failed_write() { return clear_failed_write_behind(end_); }
  base::Result<void> sync_file() { return segment_.file->sync_data(); }

  // Says, durably, that the journal goes on in this segment. The last thing to be written; there is
  // room for it where a mark is, or would be.
  base::Result<void> hand_over_to(std::uint64_t next_segment);

  // Whether the path still names the segment that is written.
  base::Result<bool> is_at(const std::string& path) const { return segment_.file->is_at(path); }

  bool is_synced() const noexcept { return !unsynced_.has_value(); }
  RecordNumber last() const noexcept { return (unsynced_ ? unsynced_->chain : chain_).next - 1; }
  RecordNumber durable() const noexcept { return chain_.next - 1; }
  bool ends_with_mark() const noexcept { return ends_with_mark_; }
  // Behind the last batch that is synced.
  const ChainPoint& chain() const noexcept { return chain_; }
  std::uint64_t end() const noexcept { return end_; }
  const SegmentHeader& segment() const noexcept { return segment_.header; }

 private:
  BatchHeader next_header() const;
  base::Result<void> clear_failed_write_behind(std::uint64_t from);

  struct Unsynced {
    ChainPoint chain;
    std::uint64_t end;
    bool is_mark;
  };

  Segment segment_;
  std::uint64_t end_;
  ChainPoint chain_;
  std::uint64_t epoch_;
  bool ends_with_mark_ = false;
  std::uint64_t dirty_end_ = 0;  // up to here a write that failed may have left bytes
  std::optional<Unsynced> unsynced_;
  base::Bytes batch_;
};

}  // namespace holdfast::store
