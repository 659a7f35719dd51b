// SPDX-License-Identifier: Apache-2.0
#include "store/segment_writer.h"

#include <algorithm>

namespace holdfast::store {

BatchHeader SegmentWriter::next_header() const {
  BatchHeader header;
  header.segment = segment_.header.number;
  header.offset = end_;
  header.first = chain_.next;
  header.synced = chain_.next - 1;
  header.epoch = epoch_;
  header.chain = chain_.hash;
  return header;
}

base::Result<void> SegmentWriter::write(std::span<const base::ByteView> records) {
  CHECK(is_synced());
  BatchHeader header = next_header();
  encode_batch(header, segment_.header.crc, records, batch_);
  CHECK(end_ + batch_.size() <= segment_.header.bytes);
  const std::uint64_t end = end_ + batch_.size();
  dirty_end_ = std::max(dirty_end_, end);
  TRY(env::write_all(*segment_.file, end_, batch_));
  TRY(clear_failed_write_behind(end));
  unsynced_ = {chain_, end_ + batch_.size(), header.is_mark()};
  unsynced_->chain.advance(header, base::ByteView(batch_).first(kBatchHeaderBytes));
  return {};
}

base::Result<void> SegmentWriter::clear_failed_write_behind(std::uint64_t from) {
  if (dirty_end_ > from) {
    const base::Bytes zeros(static_cast<std::size_t>(dirty_end_ - from));
    TRY(env::write_all(*segment_.file, from, zeros));
  }
  dirty_end_ = 0;
  return {};
}

base::Result<void> SegmentWriter::sync() {
  if (is_synced()) return {};
  TRY(segment_.file->sync_data());
  chain_ = unsynced_->chain;
  end_ = unsynced_->end;
  ends_with_mark_ = unsynced_->is_mark;
  unsynced_.reset();
  return {};
}

base::Result<void> SegmentWriter::hand_over_to(std::uint64_t next_segment) {
  CHECK(is_synced());
  BatchHeader header = next_header();
  // It says all that a mark says.
  if (ends_with_mark_) header.offset -= kBlockBytes;
  encode_handover(header, segment_.header.crc, next_segment, batch_);
  CHECK(header.offset + batch_.size() <= segment_.header.bytes);
  TRY(env::write_all(*segment_.file, header.offset, batch_));
  return segment_.file->sync_data();
}

}  // namespace holdfast::store
