// SPDX-License-Identifier: Apache-2.0
#include "store/journal_copy.h"

#include <algorithm>
#include <utility>

#include "store/batch_scanner.h"

namespace holdfast::store {
namespace {

// Reads the batches up to this record.
base::Result<ChainPoint> read_up_to(const Segment& segment, const std::string& path,
                                    RecordNumber last, std::uint64_t& end) {
  BatchScanner scanner(*segment.file, segment.header);
  ChainPoint chain{segment.header.first, segment.header.chain};
  end = scanner.offset();
  while (chain.next <= last) {
    const BatchScanner::Found found = TRY(scanner.next());
    if (found != BatchScanner::Found::kBatch) {
      return corrupt_at(
          path, scanner.offset(),
          "record " + std::to_string(chain.next) + " cannot be read: " +
              (found == BatchScanner::Found::kBad ? scanner.problem() : "nothing is there"));
    }
    if (const char* why = chain.refuse(scanner.header()))
      return corrupt_at(path, scanner.header().offset, why);
    chain.advance(scanner.header(), scanner.header_bytes());
    end = scanner.offset();
  }
  return chain;
}

}  // namespace

base::Result<std::vector<SegmentHeader>> segments_between(env::Disk& disk,
                                                          const std::string& folder,
                                                          const JournalId& journal,
                                                          RecordNumber first, RecordNumber last) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : TRY(disk.list(folder)))
    if (const auto number = segment_number(name)) numbers.push_back(*number);
  // A journal without records has its first segment at most.
  const RecordNumber end = last < first ? first : last;
  std::vector<SegmentHeader> headers;
  // From the newest to the oldest that is needed: those before it may go at any time.
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const Segment segment = TRY(open_segment(disk, folder, journal, *number, env::OpenMode::kRead));
    if (segment.header.first > end) continue;
    if (!headers.empty() && headers.back().previous != *number) {
      return corrupt_at(segment_path(folder, headers.back().number), 0,
                        "segment " + std::to_string(headers.back().previous) +
                            " comes before it and is not there");
    }
    headers.push_back(segment.header);
    if (segment.header.first <= first) break;
  }
  std::ranges::reverse(headers);
  return headers;
}

base::Result<void> check_whole(const Segment& segment, const std::string& path,
                               const SegmentHeader& next) {
  std::uint64_t end = 0;
  const ChainPoint chain = TRY(read_up_to(segment, path, next.first - 1, end));
  if (chain.next == next.first && chain.hash == next.chain) return {};
  return corrupt_at(path, end, "segment " + std::to_string(next.number) + " does not follow it");
}

base::Result<std::uint64_t> find_end(const Segment& segment, const std::string& path,
                                     RecordNumber last) {
  std::uint64_t end = 0;
  const ChainPoint chain = TRY(read_up_to(segment, path, last, end));
  if (chain.next == last + 1 || last < segment.header.first) return end;
  return corrupt_at(path, end, "record " + std::to_string(last) + " is not the last of its batch");
}

}  // namespace holdfast::store
