// SPDX-License-Identifier: Apache-2.0
#include "store/batch_scanner.h"

#include <algorithm>

#include "base/crc32c.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kReadAheadBytes = std::size_t{256} << 10;

bool is_blank(base::ByteView bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

BatchScanner::BatchScanner(const env::File& file, const SegmentHeader& segment,
                           std::uint64_t offset)
    : file_(file), segment_(segment), offset_(offset), used_end_(offset) {}

base::Result<base::ByteView> BatchScanner::window(std::size_t bytes) {
  const std::uint64_t buffer_end = buffer_offset_ + buffer_filled_;
  if (offset_ < buffer_offset_ || offset_ + bytes > buffer_end) {
    const std::size_t ahead = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(bytes, kReadAheadBytes), segment_.bytes - offset_));
    if (buffer_.size() < ahead) buffer_.resize(ahead);
    buffer_filled_ = 0;
    auto filled = file_.read_at(offset_, std::span(buffer_).first(ahead));
    // What is read ahead may be what cannot be read.
    if (!filled && bytes < ahead) filled = file_.read_at(offset_, std::span(buffer_).first(bytes));
    buffer_filled_ = TRY(std::move(filled));
    buffer_offset_ = offset_;
  }
  const std::size_t skip = static_cast<std::size_t>(offset_ - buffer_offset_);
  return base::ByteView(buffer_).subspan(skip, std::min(bytes, buffer_filled_ - skip));
}

BatchScanner::Found BatchScanner::bad(const char* problem) noexcept {
  problem_ = problem;
  return Found::kBad;
}

base::Result<BatchScanner::Found> BatchScanner::next() {
  if (offset_ + kBlockBytes > segment_.bytes) return Found::kEnd;
  const base::ByteView block = TRY(window(kBlockBytes));
  if (block.size() < kBlockBytes) return bad("the file ends here");
  if (is_blank(block)) return Found::kBlank;
  const auto header = decode_batch(block.first(kBatchHeaderBytes), segment_, offset_);
  if (!header) return bad("no batch header of this segment");
  header_ = *header;
  bytes_ = TRY(window(header_.bytes));
  if (bytes_.size() < header_.bytes) return bad("the file ends inside the batch");
  if (base::crc32c(bytes_.subspan(kBatchHeaderBytes)) != header_.body_crc)
    return bad("the checksum of the batch is wrong");
  offset_ += header_.bytes;
  used_end_ = offset_;
  return Found::kBatch;
}

base::Result<bool> BatchScanner::skip_to_header() {
  for (; offset_ + kBlockBytes <= segment_.bytes; offset_ += kBlockBytes) {
    const base::ByteView block = TRY(window(kBlockBytes));
    if (is_blank(block)) continue;
    if (block.size() < kBlockBytes) break;
    if (decode_batch(block.first(kBatchHeaderBytes), segment_, offset_)) return true;
    used_end_ = offset_ + kBlockBytes;
  }
  return false;
}

const char* ChainPoint::refuse(const BatchHeader& header) const noexcept {
  if (header.first != next) return "the batch does not hold the records that come next";
  if (header.chain != hash) return "the batch does not follow the one before it";
  return nullptr;
}

void ChainPoint::advance(const BatchHeader& header, base::ByteView header_bytes) {
  if (header.is_mark()) return;
  next = header.last() + 1;
  hash = chain_hash(header_bytes);
}

}  // namespace holdfast::store
