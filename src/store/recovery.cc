// SPDX-License-Identifier: Apache-2.0
#include "store/recovery.h"

#include <algorithm>
#include <utility>

namespace holdfast::store {
namespace {

using Found = BatchScanner::Found;

// What was found instead of a batch is the end of the journal only if it never was one: nothing
// says that it was synced, and nothing was written behind it.
base::Result<void> judge_end(BatchScanner& scanner, Found found, const std::string& path,
                             Tail& tail) {
  if (tail.chain.next <= tail.synced) {
    return corrupt_at(path, tail.end,
                      "record " + std::to_string(tail.chain.next) +
                          " was durable and cannot be read: " +
                          (found == Found::kBad ? scanner.problem() : "nothing is there"));
  }
  // A header whose body is torn still shows that its batch was begun, after the one before was
  // synced; the batch at the end itself is the only one of which that says nothing.
  BatchScanner behind = scanner;
  behind.skip_block();
  if (found != Found::kEnd && TRY(behind.skip_to_header())) {
    return corrupt_at(path, tail.end,
                      std::string("cannot be read, but a batch was written behind it, at ") +
                          std::to_string(behind.offset()) + ": " +
                          (found == Found::kBad ? scanner.problem() : "nothing is there"));
  }
  tail.used_end = found == Found::kBad ? std::max(behind.used_end(), tail.end + kBlockBytes)
                                       : std::max(behind.used_end(), tail.end);
  return {};
}

base::Error not_following(const std::string& path, const BatchHeader& header, const char* why) {
  return corrupt_at(path, header.offset, why);
}

}  // namespace

base::Result<Tail> scan_tail(const Segment& segment, const std::string& path) {
  const std::uint64_t size = TRY(segment.file->size());
  if (size != segment.header.bytes) {
    return corrupt_at(path, std::min(size, segment.header.bytes),
                      "the file has " + std::to_string(size) + " bytes and not " +
                          std::to_string(segment.header.bytes));
  }
  Tail tail;
  tail.chain = {segment.header.first, segment.header.chain};
  tail.synced = segment.header.synced;
  tail.epoch = segment.header.epoch;
  BatchScanner scanner(*segment.file, segment.header);
  Found found = TRY(scanner.next());
  for (; found == Found::kBatch; found = TRY(scanner.next())) {
    const BatchHeader& header = scanner.header();
    if (const char* why = tail.chain.refuse(header)) return not_following(path, header, why);
    if (header.epoch < tail.epoch)
      return not_following(path, header, "the epoch is lower than before");
    tail.chain.advance(header, scanner.header_bytes());
    tail.synced = std::max(tail.synced, header.synced);
    tail.epoch = header.epoch;
    if (const auto next = read_handover(header, scanner.body())) {
      return corrupt_at(path, header.offset,
                        "segment " + std::to_string(*next) + " comes behind it and is not there");
    }
    tail.mark = header.is_mark() ? std::optional(header.offset) : std::nullopt;
    tail.end = scanner.offset();
  }
  TRY(judge_end(scanner, found, path, tail));
  return tail;
}

base::Result<DurableEnd> find_durable_end(const Segment& segment, const std::string& path,
                                          const Tail& tail) {
  DurableEnd at{{segment.header.first, segment.header.chain}, kBlockBytes};
  BatchScanner scanner(*segment.file, segment.header);
  while (at.chain.next <= tail.synced) {
    if (TRY(scanner.next()) != Found::kBatch || scanner.offset() > tail.end)
      return corrupt_at(path, scanner.offset(), "changed while it was read");
    at.chain.advance(scanner.header(), scanner.header_bytes());
    at.end = scanner.offset();
  }
  return at;
}

base::Result<DurableEnd> copy_forward(const Segment& from, const DurableEnd& begin,
                                      const Tail& tail, env::File& into,
                                      const SegmentHeader& header) {
  DurableEnd to{begin.chain, kBlockBytes};
  BatchScanner scanner(*from.file, from.header, begin.end);
  base::Bytes batch;
  while (scanner.offset() < tail.end) {
    if (TRY(scanner.next()) != Found::kBatch)
      return base::Error(base::ErrorCode::kCorrupt, "the segment changed while it was copied");
    if (scanner.header().is_mark()) continue;
    BatchHeader copy = scanner.header();
    copy.segment = header.number;
    copy.offset = to.end;
    copy.synced = begin.chain.next - 1;
    copy.epoch = header.epoch;
    copy.chain = to.chain.hash;
    batch.assign(copy.bytes, 0);
    encode(copy, header.crc, std::span(batch).first(kBatchHeaderBytes));
    std::ranges::copy(scanner.body(), batch.begin() + kBatchHeaderBytes);
    TRY(env::write_all(into, to.end, batch));
    to.chain.advance(copy, base::ByteView(batch).first(kBatchHeaderBytes));
    to.end += copy.bytes;
  }
  return to;
}

base::Result<std::vector<SegmentHeader>> read_segment_headers(
    env::Disk& disk, const std::string& folder, const JournalId& journal,
    const std::vector<std::string>& names) {
  std::vector<SegmentHeader> headers;
  for (const std::string& name : names) {
    const auto number = segment_number(name);
    if (!number) continue;
    const Segment segment = TRY(open_segment(disk, folder, journal, *number, env::OpenMode::kRead));
    const SegmentHeader& header = segment.header;
    if (!headers.empty()) {
      const SegmentHeader& before = headers.back();
      const std::string path = segment_path(folder, header.number);
      if (header.previous != before.number) {
        return corrupt_at(
            path, 0,
            "segment " + std::to_string(header.previous) + " comes before it and is not there");
      }
      if (header.first < before.first || header.epoch < before.epoch)
        return corrupt_at(path, 0, "the segment does not follow the one before it");
    }
    headers.push_back(header);
  }
  return headers;
}

}  // namespace holdfast::store
