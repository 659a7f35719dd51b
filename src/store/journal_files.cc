// SPDX-License-Identifier: Apache-2.0
#include "store/journal_files.h"

#include <utility>

#include "store/file_journal_body.h"

namespace holdfast::store {

namespace {

using Found = BatchScanner::Found;

// From the first to the last byte behind `begin` that is not zero.
base::Result<std::optional<StrayBytes>> find_stray(const env::File& file, const std::string& path,
                                                   std::uint64_t begin) {
  std::optional<StrayBytes> found;
  base::Bytes chunk(std::size_t{256} << 10);
  for (std::uint64_t at = begin;;) {
    const std::size_t count = TRY(file.read_at(at, chunk));
    if (count == 0) return found;
    for (std::size_t i = 0; i < count; ++i) {
      if (chunk[i] == 0) continue;
      if (!found) found = StrayBytes{path, at + i, 0};
      found->end = at + i + 1;
    }
    at += count;
  }
}

}  // namespace

base::Result<JournalFiles> JournalFiles::open(const WorldFolder& world) {
  const std::string folder = world.journal_path();
  const std::vector<std::string> names = TRY(world.disk().list(folder));
  std::vector<SegmentHeader> headers =
      TRY(read_segment_headers(world.disk(), folder, world.id(), names));
  if (headers.empty() && world.is_begun())
    return corrupt_at(folder, 0, "the segments of the journal are not there");
  Tail tail;
  if (!headers.empty()) {
    const std::uint64_t number = headers.back().number;
    const Segment last =
        TRY(open_segment(world.disk(), folder, world.id(), number, env::OpenMode::kRead));
    tail = TRY(scan_tail(last, segment_path(folder, number)));
  }
  return JournalFiles(world, std::move(headers), tail);
}

JournalFiles::JournalFiles(const WorldFolder& world, std::vector<SegmentHeader> headers, Tail tail)
    : disk_(&world.disk()),
      folder_(world.journal_path()),
      id_(world.id()),
      headers_(std::move(headers)),
      tail_(tail) {
  for (const SegmentHeader& header : headers_) table_->add({header.number, header.first});
  if (headers_.empty()) table_->add({1, 1});
  table_->set_durable(last());
}

base::Result<std::unique_ptr<JournalReader>> JournalFiles::read(RecordNumber from) const {
  return read_file_journal(*disk_, folder_, id_, table_, from);
}

std::optional<StrayBytes> JournalFiles::torn_tail() const {
  if (headers_.empty() || !tail_.is_torn()) return std::nullopt;
  return StrayBytes{segment_path(folder_, headers_.back().number), tail_.end, tail_.used_end};
}

base::Result<std::optional<JournalFiles::Rest>> JournalFiles::rest_of(
    const SegmentHeader& header, const SegmentHeader& next) const {
  const std::string path = segment_path(folder_, header.number);
  const Segment segment =
      TRY(open_segment(*disk_, folder_, id_, header.number, env::OpenMode::kRead));
  BatchScanner scanner(*segment.file, header);
  ChainPoint chain{header.first, header.chain};
  std::uint64_t epoch = header.epoch;
  std::uint64_t end = scanner.offset();
  // Up to the last batch that counts, and the marks behind it. What the batches are like is for
  // those who read the records.
  while (TRY(scanner.next()) == Found::kBatch) {
    if (!scanner.header().is_mark() && chain.next >= next.first) break;
    chain.advance(scanner.header(), scanner.header_bytes());
    epoch = scanner.header().epoch;
    end = scanner.offset();
  }
  auto stray = TRY(find_stray(*segment.file, path, end));
  if (!stray) return std::optional<Rest>();
  return std::optional(Rest{std::move(*stray), next.epoch != epoch});
}

base::Result<std::vector<JournalFiles::Rest>> JournalFiles::rests() const {
  std::vector<Rest> rests;
  for (std::size_t i = 0; i + 1 < headers_.size(); ++i) {
    if (auto rest = TRY(rest_of(headers_[i], headers_[i + 1]))) rests.push_back(std::move(*rest));
  }
  return rests;
}

}  // namespace holdfast::store
