// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "store/file_journal_body.h"

namespace holdfast::store {
namespace {

using Found = BatchScanner::Found;

class FileJournalReader : public JournalReader {
 public:
  FileJournalReader(env::Disk& disk, std::string folder, const JournalId& journal,
                    std::shared_ptr<SegmentTable> table, RecordNumber from)
      : disk_(disk),
        folder_(std::move(folder)),
        journal_(journal),
        table_(std::move(table)),
        cursor_(from) {}

  base::Result<std::optional<Record>> next() override {
    if (cursor_ > table_->durable()) return std::optional<Record>();
    while (next_in_batch_ > last_in_batch_ || next_in_batch_ < cursor_) {
      if (next_in_batch_ <= last_in_batch_) {
        TRY(take());
      } else {
        TRY(load_batch());
      }
    }
    const base::ByteView bytes = TRY(take());
    return std::optional(Record{cursor_++, bytes});
  }

  RecordNumber cursor() const override { return cursor_; }

 private:
  struct Open {
    Open(Segment opened, std::uint64_t offset)
        : segment(std::move(opened)), scanner(*segment.file, segment.header, offset) {}
    Segment segment;
    BatchScanner scanner;
  };

  base::Error trimmed() const {
    return {base::ErrorCode::kNotFound, "record " + std::to_string(cursor_),
            "trimmed: the journal begins with record " + std::to_string(table_->first_record())};
  }

  std::string path() const { return segment_path(folder_, open_->segment.header.number); }

  // What was read makes no sense. If the segment was given up meanwhile, its file may be in
  // use for something else, and that is why.
  base::Error bad(std::uint64_t offset, const std::string& why) const {
    if (!table_->segment_of(cursor_)) return trimmed();
    return corrupt_at(path(), offset, why);
  }

  base::Result<base::ByteView> take() {
    const auto record = take_record(rest_of_batch_);
    if (!record) return bad(open_->scanner.header().offset, "a record is longer than its batch");
    ++next_in_batch_;
    return *record;
  }

  base::Result<void> open(std::uint64_t number) {
    auto segment = open_segment(disk_, folder_, journal_, number, env::OpenMode::kRead);
    if (!segment) {
      if (!table_->segment_of(cursor_)) return trimmed();
      return std::move(segment).error();
    }
    SegmentTable::Landmark begin{{segment->header.first, segment->header.chain}, kBlockBytes};
    if (!open_) {
      begin = table_->landmark_before(number, cursor_).value_or(begin);
    } else if (begin.chain.next != chain_.next || begin.chain.hash != chain_.hash) {
      // Coming from the segment before, we know what this one has to follow.
      return corrupt_at(segment_path(folder_, number), 0,
                        "the segment does not follow the one before it");
    }
    chain_ = begin.chain;
    open_ = std::make_unique<Open>(std::move(*segment), begin.offset);
    return {};
  }

  // Goes to the next batch with records, at or before the cursor.
  base::Result<void> load_batch() {
    const auto number = table_->segment_of(std::max(cursor_, chain_.next));
    if (!number || !table_->segment_of(cursor_)) return trimmed();
    if (!open_ || open_->segment.header.number != *number) TRY(open(*number));
    BatchScanner& scanner = open_->scanner;
    Found found = TRY(scanner.next());
    if (found != Found::kBatch) {
      // What was read ahead may be older than what was written since.
      scanner.forget_what_was_read();
      found = TRY(scanner.next());
    }
    if (found != Found::kBatch) {
      return bad(scanner.offset(),
                 "record " + std::to_string(chain_.next) + " cannot be read: " +
                     (found == Found::kBad ? scanner.problem() : "nothing is there"));
    }
    const BatchHeader& header = scanner.header();
    if (const char* why = chain_.refuse(header)) return bad(header.offset, why);
    next_in_batch_ = header.first;
    last_in_batch_ = header.first + header.count - 1;
    chain_.advance(header, scanner.header_bytes());
    if (chain_.next <= table_->durable()) table_->add_landmark(*number, {chain_, scanner.offset()});
    rest_of_batch_ = scanner.body();
    if (last_in_batch_ < cursor_) next_in_batch_ = last_in_batch_ + 1;
    return {};
  }

  env::Disk& disk_;
  const std::string folder_;
  const JournalId journal_;
  const std::shared_ptr<SegmentTable> table_;
  RecordNumber cursor_;
  ChainPoint chain_{0, {}};
  std::unique_ptr<Open> open_;
  base::ByteView rest_of_batch_;
  RecordNumber next_in_batch_ = 1;
  RecordNumber last_in_batch_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<JournalReader>> read_file_journal(env::Disk& disk, std::string folder,
                                                               const JournalId& journal,
                                                               std::shared_ptr<SegmentTable> table,
                                                               RecordNumber from) {
  if (!table->segment_of(from)) {
    return base::Error(
        base::ErrorCode::kNotFound, "record " + std::to_string(from),
        "trimmed: the journal begins with record " + std::to_string(table->first_record()));
  }
  return std::unique_ptr<JournalReader>(std::make_unique<FileJournalReader>(
      disk, std::move(folder), journal, std::move(table), from));
}

}  // namespace holdfast::store
