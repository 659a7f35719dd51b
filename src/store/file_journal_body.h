// SPDX-License-Identifier: Apache-2.0
// FileJournal: the journal in files, once it is open. Opening is in open_file_journal.cc.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "store/file_journal.h"
#include "store/segment_table.h"
#include "store/segment_writer.h"
#include "store/spares.h"

namespace holdfast::store {

class FileJournal : public Journal {
 public:
  FileJournal(WorldFolder& world, JournalOptions options, std::unique_ptr<Spares> spares,
              std::shared_ptr<SegmentTable> table, SegmentWriter writer, std::uint64_t epoch);

  base::Result<RecordNumber> append(std::span<const base::ByteView> records, Room room) override;
  base::Result<RecordNumber> sync() override;
  base::Result<void> mark() override;
  base::Result<void> prepare() override;
  bool has_room(Room room) const override;
  base::Result<void> trim(RecordNumber below) override;
  base::Result<std::unique_ptr<JournalReader>> read(RecordNumber from) override;
  std::unique_ptr<JournalPin> pin(RecordNumber from) override;
  RecordNumber first() const override { return table_->first_record(); }
  RecordNumber first_on_disk() const override { return table_->first_held(); }
  RecordNumber last() const override { return writer_.last(); }
  RecordNumber durable() const override { return table_->durable(); }
  std::uint64_t epoch() const override { return epoch_; }
  std::size_t max_batch_bytes() const override;
  base::Result<void> close() override;

 private:
  struct Latched {
    base::ErrorCode code;
    std::string where;
    std::string why;
  };

  // One thread at a time changes the journal. Two at once could remove segments out of order, and
  // leave a journal that cannot be opened: that would be our own mistake, and ends the process.
  class Alone;

  // The error that ended this journal, for every call after it.
  base::Result<void> alive() const;
  base::Error latch(base::Error error);

  // That the world is still ours: that no other process can have opened it, and that what we write
  // is where the next opening looks for it. An error has ended the journal.
  base::Result<void> fence();

  base::Result<RecordNumber> sync_batch();
  base::Result<void> write_mark();
  base::Result<void> write(std::span<const base::ByteView> records, std::size_t batch_bytes,
                           Room room);
  base::Result<void> roll(std::size_t batch_bytes, Room room);
  base::Result<std::string> take_blank(std::uint64_t bytes, Room room);

  WorldFolder& world_;
  const JournalOptions options_;
  const std::string folder_;
  std::unique_ptr<Spares> spares_;
  std::shared_ptr<SegmentTable> table_;
  SegmentWriter writer_;
  const std::uint64_t epoch_;
  std::optional<Latched> latched_;
  std::atomic<bool> is_in_use_ = false;
};

// A reader that begins at `from`.
base::Result<std::unique_ptr<JournalReader>> read_file_journal(env::Disk& disk, std::string folder,
                                                               const JournalId& journal,
                                                               std::shared_ptr<SegmentTable> table,
                                                               RecordNumber from);

}  // namespace holdfast::store
