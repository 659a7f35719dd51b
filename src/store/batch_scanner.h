// SPDX-License-Identifier: Apache-2.0
// BatchScanner: walks over the batches of one segment, reading ahead, and believes nothing: a batch
// is found only when its checksums are right and it belongs to this place of this segment.
// ChainPoint: whether batches follow one another.
#pragma once

#include "env/disk.h"
#include "store/journal_format.h"

namespace holdfast::store {

class BatchScanner {
 public:
  enum class Found : std::uint8_t {
    kBatch,  // header(), body(): until the next call
    kBlank,  // the block holds zeros: nothing was written here
    kBad,    // anything else: problem() says what
    kEnd,    // the segment has no further block
  };

  // The file must outlive it.
  BatchScanner(const env::File& file, const SegmentHeader& segment,
               std::uint64_t offset = kBlockBytes);

  // Looks at offset(), and after kBatch offset() is behind the batch.
  base::Result<Found> next();

  // Goes on from the first block at or after offset() that begins with a batch header of this
  // segment, whatever its body is; false when there is none. Also finds where the last block with
  // anything in it ends, which is used_end().
  base::Result<bool> skip_to_header();

  // The next look is at the file, not at what was read ahead.
  void forget_what_was_read() noexcept { buffer_filled_ = 0; }

  // Leaves out the block at offset().
  void skip_block() noexcept { offset_ += kBlockBytes; }

  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t used_end() const noexcept { return used_end_; }
  const BatchHeader& header() const noexcept { return header_; }
  base::ByteView header_bytes() const noexcept { return bytes_.first(kBatchHeaderBytes); }
  base::ByteView body() const noexcept {
    return bytes_.subspan(kBatchHeaderBytes, header_.body_bytes);
  }
  const char* problem() const noexcept { return problem_; }

 private:
  // So many bytes from offset_ on, or fewer where the file ends.
  base::Result<base::ByteView> window(std::size_t bytes);
  Found bad(const char* problem) noexcept;

  const env::File& file_;
  SegmentHeader segment_;
  std::uint64_t offset_;
  std::uint64_t used_end_;
  base::Bytes buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::size_t buffer_filled_ = 0;
  BatchHeader header_;
  base::ByteView bytes_;  // the whole batch, in buffer_
  const char* problem_ = "";
};

struct ChainPoint {
  RecordNumber next = 1;
  base::Hash hash;

  // Why the batch does not come next, or null.
  const char* refuse(const BatchHeader& header) const noexcept;
  void advance(const BatchHeader& header, base::ByteView header_bytes);
};

}  // namespace holdfast::store
