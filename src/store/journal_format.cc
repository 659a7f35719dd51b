// SPDX-License-Identifier: Apache-2.0
#include "store/journal_format.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/copy.h"
#include "base/crc32c.h"
#include "base/sha256.h"
#include "store/little_endian.h"

namespace holdfast::store {
namespace {

constexpr std::uint64_t kSegmentMagic = 0x31'47'45'53'44'4c'4f'48;  // "HOLDSEG1"
constexpr std::uint32_t kBatchMagic = 0x31'42'46'48;                // "HFB1"
constexpr std::size_t kSegmentCrcEnd = 12;
constexpr std::size_t kBatchCrcEnd = 8;
constexpr std::size_t kHandoverBytes = 8;

// The same fields in the same order, written and read.
template <class Fields, class Header>
void segment_fields(Fields& fields, Header& header) {
  fields.bytes(header.journal);
  fields.number(header.nonce);
  fields.number(header.number);
  fields.number(header.previous);
  fields.number(header.bytes);
  fields.number(header.first);
  fields.number(header.synced);
  fields.number(header.epoch);
  fields.bytes(header.chain.bytes);
}

template <class Fields, class Header>
void batch_fields(Fields& fields, Header& header) {
  fields.number(header.bytes);
  fields.number(header.body_bytes);
  fields.number(header.body_crc);
  fields.number(header.count);
  fields.number(header.segment);
  fields.number(header.offset);
  fields.number(header.first);
  fields.number(header.synced);
  fields.number(header.epoch);
  fields.bytes(header.chain.bytes);
}

// Numbers near the end of their range would make sums wrap; no journal comes near them.
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::uint64_t>::max() / 4;

bool is_possible(const SegmentHeader& header) {
  return header.number > 0 && header.number <= kMaxNumber && header.previous < header.number &&
         header.bytes >= kBlockBytes && header.bytes % kBlockBytes == 0 &&
         header.bytes <= kMaxNumber && header.first > 0 && header.first <= kMaxNumber &&
         header.synced >= header.first - 1 && header.synced <= kMaxNumber && header.epoch > 0 &&
         header.epoch <= kMaxNumber;
}

bool is_possible(const BatchHeader& header, const SegmentHeader& segment, std::uint64_t offset) {
  return header.segment == segment.number && header.offset == offset &&
         header.bytes <= kMaxBatchBytes && header.body_bytes <= kMaxBatchBytes &&
         header.bytes == batch_bytes_of(header.body_bytes) &&
         header.bytes <= segment.bytes - offset && header.first > 0 && header.first <= kMaxNumber &&
         header.count <= header.body_bytes / kRecordLengthBytes && header.synced < header.first &&
         header.epoch >= segment.epoch && header.epoch <= kMaxNumber;
}

// A batch whose header and body are still to be written; what is behind them is zero.
void make_room(std::size_t body_bytes, base::Bytes& out) {
  CHECK(batch_bytes_of(body_bytes) <= kMaxBatchBytes);
  out.resize(batch_bytes_of(body_bytes));
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(kBatchHeaderBytes + body_bytes), out.end(),
            std::uint8_t{0});
}

// The header of a batch whose body is written.
void put_header(BatchHeader& header, std::uint32_t segment_crc, std::size_t body_bytes,
                std::size_t count, base::Bytes& out) {
  header.bytes = static_cast<std::uint32_t>(out.size());
  header.body_bytes = static_cast<std::uint32_t>(body_bytes);
  header.count = static_cast<std::uint32_t>(count);
  header.body_crc = base::crc32c(base::ByteView(out).subspan(kBatchHeaderBytes));
  encode(header, segment_crc, std::span(out).first(kBatchHeaderBytes));
}

// Most records are some hundred bytes long, for which a call of memcpy takes as long as the copy.
void copy_record(std::uint8_t* to, base::ByteView record) {
  using Word = std::uint64_t __attribute__((vector_size(16)));
  constexpr std::size_t kLong = 1024;
  if (record.size() < sizeof(Word) || record.size() > kLong)
    return base::copy_bytes(to, record.data(), record.size());
  const auto copy = [&](std::size_t at) {
    Word word;
    std::memcpy(&word, record.data() + at, sizeof word);
    std::memcpy(to + at, &word, sizeof word);
  };
  for (std::size_t at = 0; at + sizeof(Word) <= record.size(); at += sizeof(Word)) copy(at);
  copy(record.size() - sizeof(Word));  // what is left, with some of what is before it
}

}  // namespace

Block encode(SegmentHeader& header) {
  CHECK(header.number > 0 && header.first > 0 && header.epoch > 0);
  CHECK(header.bytes % kBlockBytes == 0);
  Block block{};
  FieldWriter fields(std::span<std::uint8_t>(block).subspan(kSegmentCrcEnd));
  fields.number(kJournalVersion);
  segment_fields(fields, header);
  header.crc = base::crc32c(base::ByteView(block).subspan(kSegmentCrcEnd));
  FieldWriter front(block);
  front.number(kSegmentMagic);
  front.number(header.crc);
  return block;
}

std::optional<SegmentHeader> decode_segment(base::ByteView block) {
  CHECK(block.size() == kBlockBytes);
  SegmentHeader header;
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  FieldReader fields(block);
  fields.number(magic);
  fields.number(header.crc);
  fields.number(version);
  segment_fields(fields, header);
  const bool is_ours = magic == kSegmentMagic && version == kJournalVersion;
  if (!is_ours || header.crc != base::crc32c(block.subspan(kSegmentCrcEnd))) return std::nullopt;
  if (!is_possible(header)) return std::nullopt;
  return header;
}

std::optional<std::uint32_t> other_segment_version(base::ByteView block) {
  std::uint64_t magic = 0;
  std::uint32_t crc = 0;
  std::uint32_t version = 0;
  FieldReader fields(block);
  fields.number(magic);
  fields.number(crc);
  fields.number(version);
  const bool is_whole =
      magic == kSegmentMagic && crc == base::crc32c(block.subspan(kSegmentCrcEnd));
  if (!is_whole || version == kJournalVersion) return std::nullopt;
  return version;
}

void encode(const BatchHeader& header, std::uint32_t segment_crc, std::span<std::uint8_t> into) {
  CHECK(into.size() == kBatchHeaderBytes);
  FieldWriter fields(into.subspan(kBatchCrcEnd));
  batch_fields(fields, header);
  FieldWriter front(into);
  front.number(kBatchMagic);
  front.number(base::crc32c(into.subspan(kBatchCrcEnd), segment_crc));
}

std::optional<BatchHeader> decode_batch(base::ByteView bytes, const SegmentHeader& segment,
                                        std::uint64_t offset) {
  CHECK(bytes.size() == kBatchHeaderBytes && offset < segment.bytes);
  BatchHeader header;
  std::uint32_t magic = 0;
  std::uint32_t crc = 0;
  FieldReader fields(bytes);
  fields.number(magic);
  fields.number(crc);
  batch_fields(fields, header);
  if (magic != kBatchMagic || crc != base::crc32c(bytes.subspan(kBatchCrcEnd), segment.crc))
    return std::nullopt;
  if (!is_possible(header, segment, offset)) return std::nullopt;
  return header;
}

base::Hash chain_hash(base::ByteView batch_header) {
  CHECK(batch_header.size() == kBatchHeaderBytes);
  return base::sha256(batch_header);
}

std::size_t body_bytes_of(std::span<const base::ByteView> records) {
  std::size_t bytes = 0;
  for (const base::ByteView record : records) bytes += kRecordLengthBytes + record.size();
  return bytes;
}

void encode_batch(BatchHeader& header, std::uint32_t segment_crc,
                  std::span<const base::ByteView> records, base::Bytes& out) {
  const std::size_t body_bytes = body_bytes_of(records);
  make_room(body_bytes, out);
  std::uint8_t* at = out.data() + kBatchHeaderBytes;
  for (const base::ByteView record : records) {
    FieldWriter(std::span<std::uint8_t>(at, kRecordLengthBytes))
        .number(static_cast<std::uint32_t>(record.size()));
    at += kRecordLengthBytes;
    copy_record(at, record);
    at += record.size();
  }
  put_header(header, segment_crc, body_bytes, records.size(), out);
}

void encode_handover(BatchHeader& header, std::uint32_t segment_crc, std::uint64_t next_segment,
                     base::Bytes& out) {
  make_room(kHandoverBytes, out);
  FieldWriter(std::span(out).subspan(kBatchHeaderBytes)).number(next_segment);
  put_header(header, segment_crc, kHandoverBytes, 0, out);
}

std::optional<std::uint64_t> read_handover(const BatchHeader& header, base::ByteView body) {
  if (!header.is_mark() || body.size() != kHandoverBytes) return std::nullopt;
  std::uint64_t next_segment = 0;
  FieldReader(body).number(next_segment);
  return next_segment;
}

std::optional<base::ByteView> take_record(base::ByteView& body) {
  if (body.size() < kRecordLengthBytes) return std::nullopt;
  std::uint32_t length = 0;
  FieldReader(body).number(length);
  if (length > body.size() - kRecordLengthBytes) return std::nullopt;
  const base::ByteView record = body.subspan(kRecordLengthBytes, length);
  body = body.subspan(kRecordLengthBytes + length);
  return record;
}

}  // namespace holdfast::store
