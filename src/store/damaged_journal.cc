// SPDX-License-Identifier: Apache-2.0
#include "store/damaged_journal.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/batch_scanner.h"
#include "store/segment_files.h"

namespace holdfast::store {
namespace {

using Found = BatchScanner::Found;

constexpr RecordNumber kNoEnd = std::numeric_limits<RecordNumber>::max();

class DamagedReading {
 public:
  DamagedReading(env::Disk& disk, const std::string& folder, const BatchVisitor& visit)
      : disk_(disk), folder_(folder), visit_(visit) {}

  base::Result<Damage> run(std::optional<JournalId> id) {
    TRY(look_at_segments(id));
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      const SegmentHeader& header = headers_[i];
      const bool is_last = i + 1 == headers_.size();
      const Segment segment =
          TRY(open_segment(disk_, folder_, header.journal, header.number, env::OpenMode::kRead));
      TRY(read_segment(segment, is_last ? kNoEnd : headers_[i + 1].first));
    }
    if (missing_ > last_number_) {
      damage_.bytes.push_back({segment_path(folder_, missing_), 0, 0, "the segment is not there"});
    }
    // Something said that these were durable.
    if (next_ != 0 && synced_ >= next_) damage_.records.push_back({next_, synced_});
    return std::move(damage_);
  }

 private:
  // A file is open only while it is read: there may be more of them than a process may have open.
  base::Result<void> look_at_segments(std::optional<JournalId> id) {
    std::uint64_t before = 0;
    for (const std::string& name : TRY(disk_.list(folder_))) {
      const auto number = segment_number(name);
      if (!number) continue;
      TRY(note_missing(before, *number));
      last_number_ = before = *number;
      auto segment = open_any(*number, id);
      if (segment) {
        id = segment->header.journal;
        headers_.push_back(segment->header);
        continue;
      }
      // That is about this machine, and not about the file.
      if (segment.error().code() == base::ErrorCode::kUnavailable)
        return std::move(segment).error();
      const auto file = disk_.open(folder_ + "/" + name, env::OpenMode::kRead);
      const auto size = file ? (*file)->size() : base::Result<std::uint64_t>(std::uint64_t{0});
      damage_.bytes.push_back(
          {folder_ + "/" + name, 0, size ? *size : 0, segment.error().message()});
    }
    return {};
  }

  base::Result<void> note_missing(std::uint64_t before, std::uint64_t number) {
    for (std::uint64_t missing = before + 1; before != 0 && missing < number; ++missing) {
      if (damage_.bytes.size() == kMaxListedLosses)
        return base::Error(base::ErrorCode::kTooLarge, folder_, "too many segments are missing");
      damage_.bytes.push_back({segment_path(folder_, missing), 0, 0, "the segment is not there"});
    }
    return {};
  }

  // As open_segment, of whatever journal where none is known yet.
  base::Result<Segment> open_any(std::uint64_t number, const std::optional<JournalId>& id) {
    if (id) return open_segment(disk_, folder_, *id, number, env::OpenMode::kRead);
    auto file = TRY(disk_.open(segment_path(folder_, number), env::OpenMode::kRead));
    Block block{};
    TRY(env::read_all(*file, 0, block));
    const auto header = decode_segment(block);
    if (!header)
      return base::Error(base::ErrorCode::kCorrupt, "the header of the segment is damaged");
    return open_segment(disk_, folder_, header->journal, number, env::OpenMode::kRead);
  }

  // Records from `end` on count in a later segment.
  base::Result<void> read_segment(const Segment& segment, RecordNumber end) {
    const std::string path = segment_path(folder_, segment.header.number);
    synced_ = std::max(synced_, segment.header.synced);
    if (next_ == 0) chain_ = {next_ = segment.header.first, segment.header.chain};
    BatchScanner scanner(*segment.file, segment.header);
    while (next_ < end) {
      const std::uint64_t begin = scanner.offset();
      const auto found = scanner.next();
      if (found && *found == Found::kEnd) break;
      if (found && *found == Found::kBatch) {
        TRY(take(scanner, path));
        continue;
      }
      const bool is_blank = found && *found == Found::kBlank;
      const std::string why = !found     ? found.error().to_string()
                              : is_blank ? "zeros, though a batch follows"
                                         : scanner.problem();
      scanner.skip_block();
      const auto [more, unreadable_end] = skip_to_header(scanner, segment.header.bytes);
      if (more) damage_.bytes.push_back({path, begin, scanner.offset(), why});
      if (!more && (!is_blank || unreadable_end > 0)) {
        const std::uint64_t used = std::max(scanner.used_end(), begin + kBlockBytes);
        damage_.bytes.push_back({path, begin, std::max(used, unreadable_end), why});
      }
      if (!more) break;
    }
    return {};
  }

  // Also behind blocks that the device cannot read. Gives whether there is a header, and where the
  // last of those blocks ends.
  static std::pair<bool, std::uint64_t> skip_to_header(BatchScanner& scanner,
                                                       std::uint64_t segment_bytes) {
    std::uint64_t unreadable_end = 0;
    while (scanner.offset() < segment_bytes) {
      const auto found = scanner.skip_to_header();
      if (found) return {*found, unreadable_end};
      scanner.skip_block();
      unreadable_end = scanner.offset();
    }
    return {false, unreadable_end};
  }

  base::Result<void> take(const BatchScanner& scanner, const std::string& path) {
    const BatchHeader& header = scanner.header();
    synced_ = std::max(synced_, header.synced);
    if (const auto next = read_handover(header, scanner.body())) missing_ = *next;
    if (header.is_mark()) return {};
    std::vector<base::ByteView> records;
    base::ByteView body = scanner.body();
    for (std::uint32_t i = 0; i < header.count; ++i) {
      const auto record = take_record(body);
      if (!record) return lose(scanner, path, "a record is longer than its batch");
      records.push_back(*record);
    }
    if (header.first < next_) return lose(scanner, path, "it holds records that came before");
    if (header.first == next_ && chain_ && chain_->refuse(header) != nullptr)
      return lose(scanner, path, chain_->refuse(header));
    if (header.first > next_) damage_.records.push_back({next_, header.first - 1});
    TRY(visit_(header.first, records));
    chain_ = {header.first, {}};
    chain_->advance(header, scanner.header_bytes());
    next_ = chain_->next;
    return {};
  }

  base::Result<void> lose(const BatchScanner& scanner, const std::string& path, const char* why) {
    damage_.bytes.push_back({path, scanner.header().offset, scanner.offset(), why});
    return {};
  }

  static constexpr std::size_t kMaxListedLosses = 1'000'000;

  env::Disk& disk_;
  const std::string& folder_;
  const BatchVisitor& visit_;
  std::vector<SegmentHeader> headers_;
  std::optional<ChainPoint> chain_;
  RecordNumber next_ = 0;  // 0: nothing was seen yet
  RecordNumber synced_ = 0;
  std::uint64_t last_number_ = 0;  // of the segments that have a file
  std::uint64_t missing_ = 0;      // a handover has named this one last
  Damage damage_;
};

}  // namespace

base::Result<Damage> read_damaged_journal(env::Disk& disk, const std::string& folder,
                                          std::optional<JournalId> id, const BatchVisitor& visit) {
  return DamagedReading(disk, folder, visit).run(id);
}

}  // namespace holdfast::store
