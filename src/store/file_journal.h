// SPDX-License-Identifier: Apache-2.0
// The journal in files, as docs/formats/journal.md has it. At any time at most one batch is
// written and not yet synced; so a batch with another behind it was synced, and only the last one
// can be torn.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/journal.h"
#include "store/world_folder.h"

namespace holdfast::store {

struct JournalOptions {
  // Of one segment. A batch that does not fit gets a segment of its own size.
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;

  // Blank segments that prepare() keeps ahead; so many of them are for Room::kReserve only.
  std::size_t spare_segments = 2;
  std::size_t reserve_segments = 1;

  // So many segments that are given up stay for those who have pinned them.
  std::size_t held_segments = 64;

  // The number of the first record of a journal that is begun: more where earlier ones are known to
  // be lost.
  RecordNumber first_record = 1;
};

// What opening found and did.
struct RecoveryReport {
  bool was_clean = true;  // the journal was closed, or had nothing that was not marked durable

  // Written again, because nothing told whether they were durable.
  std::uint64_t copied_records = 0;
  std::uint64_t copied_bytes = 0;

  // Files that were to become segments and could not be read, or not be removed. They hold nothing.
  std::vector<std::string> unusable_spares;

  struct TornTail {
    std::string segment;  // path
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string kept_in;  // path of the copy; empty: there was no space, the bytes stay in place

    std::size_t older_removed = 0;  // copies of earlier recoveries: only the newest few are kept
  };
  std::optional<TornTail> torn;
};

// One line for the log; empty: there is nothing to tell.
std::string describe(const RecoveryReport& report);

struct OpenedJournal {
  std::unique_ptr<Journal> journal;
  RecoveryReport report;
};

// Opens the journal of the world, or begins it. The world must outlive it. kCorrupt: it cannot be
// read, or it ends before a record that another file of the world knows to be durable
// (store/journal_witness.h); the error names the file and the offset, and nothing was changed.
base::Result<OpenedJournal> open_file_journal(WorldFolder& world, JournalOptions options = {});

}  // namespace holdfast::store
