// SPDX-License-Identifier: Apache-2.0
// The bytes of a segment, as docs/formats/journal.md has them: one block of segment header, then
// batches that begin at block boundaries. A block that was synced is never written again as part
// of another batch, so a torn write cannot hurt what is durable.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/hash.h"
#include "store/journal.h"

namespace holdfast::store {

inline constexpr std::size_t kBlockBytes = 4096;
inline constexpr std::size_t kBatchHeaderBytes = 96;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{64} << 20;
inline constexpr std::size_t kRecordLengthBytes = 4;
inline constexpr std::uint32_t kJournalVersion = 1;

using JournalId = std::array<std::uint8_t, 16>;

struct SegmentHeader {
  JournalId journal{};
  std::uint64_t nonce = 0;  // chance: what the file held in an earlier life does not have it
  std::uint64_t number = 0;
  std::uint64_t previous = 0;  // the segment before; 0: none
  std::uint64_t bytes = 0;     // of the file, while it is the last segment
  RecordNumber first =
      0;  // the first record in it; what earlier segments have from here on is void
  RecordNumber synced = 0;  // records up to here were durable when the segment was put in use
  std::uint64_t epoch = 0;
  base::Hash chain;       // of the last batch with records before `first`
  std::uint32_t crc = 0;  // of this header; the checksums of the segment's batches begin with it
};

struct BatchHeader {
  std::uint32_t bytes = 0;       // whole, in blocks
  std::uint32_t body_bytes = 0;  // the rest is zero
  std::uint32_t body_crc = 0;    // of everything behind the header, the zeros included
  std::uint32_t count = 0;       // 0: a mark
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  RecordNumber first = 0;
  RecordNumber synced = 0;  // the last record known to be durable when this was written
  std::uint64_t epoch = 0;
  base::Hash chain;  // of the last batch with records before this one

  bool is_mark() const noexcept { return count == 0; }
  RecordNumber last() const noexcept { return first + count - 1; }
};

using Block = std::array<std::uint8_t, kBlockBytes>;

Block encode(SegmentHeader& header);  // sets the crc
std::optional<SegmentHeader> decode_segment(base::ByteView block);

// The version of a whole header that another release wrote; nothing: it is ours, or damaged.
std::optional<std::uint32_t> other_segment_version(base::ByteView block);

void encode(const BatchHeader& header, std::uint32_t segment_crc, std::span<std::uint8_t> into);

// Nothing when the checksum is wrong or the numbers contradict each other or the segment. When it
// gives a header, its lengths are within bounds and the batch within `segment_bytes`.
std::optional<BatchHeader> decode_batch(base::ByteView bytes, const SegmentHeader& segment,
                                        std::uint64_t offset);

// What the next batch names as the one before.
base::Hash chain_hash(base::ByteView batch_header);

// The batch for these records: header, records, zeros up to the next block, in `out`. The header's
// lengths, count and checksums are set here.
void encode_batch(BatchHeader& header, std::uint32_t segment_crc,
                  std::span<const base::ByteView> records, base::Bytes& out);

// The handover: a mark whose body is the number of the segment that goes on. It is the last thing
// in a segment that is full, written when the next one is durable: without that one, the journal is
// known to have lost its end.
void encode_handover(BatchHeader& header, std::uint32_t segment_crc, std::uint64_t next_segment,
                     base::Bytes& out);
std::optional<std::uint64_t> read_handover(const BatchHeader& header, base::ByteView body);

std::size_t body_bytes_of(std::span<const base::ByteView> records);
inline std::size_t batch_bytes_of(std::size_t body_bytes) {
  return (kBatchHeaderBytes + body_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

// Takes the first record off a body; nothing when the body does not hold it.
std::optional<base::ByteView> take_record(base::ByteView& body);

}  // namespace holdfast::store
