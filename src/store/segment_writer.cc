// SPDX-License-Identifier: Apache-2.0
#include "store/segment_writer.h"

namespace holdfast::store {

base::Result<void> SegmentWriter::write(std::span<const base::ByteView> records) {
  CHECK(is_synced());
  BatchHeader header;
  header.segment = segment_.header.number;
  header.offset = end_;
  header.first = chain_.next;
  header.synced = chain_.next - 1;
  header.epoch = epoch_;
  header.chain = chain_.hash;
  encode_batch(header, segment_.header.crc, records, batch_);
  CHECK(end_ + batch_.size() <= segment_.header.bytes);
  TRY(env::write_all(*segment_.file, end_, batch_));
  unsynced_ = {chain_, end_ + batch_.size(), header.is_mark()};
  unsynced_->chain.advance(header, base::ByteView(batch_).first(kBatchHeaderBytes));
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

}  // namespace holdfast::store
