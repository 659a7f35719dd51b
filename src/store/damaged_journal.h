// SPDX-License-Identifier: Apache-2.0
// Reading what can be read of a damaged journal, and telling exactly what cannot. Every batch that
// is given out has its checksums right, belongs to its place, and comes behind those before it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/disk.h"
#include "store/journal_format.h"

namespace holdfast::store {

struct LostBytes {
  std::string path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string why;
};

struct LostRecords {
  RecordNumber first = 0;
  RecordNumber last = 0;
};

struct Damage {
  std::vector<LostBytes> bytes;
  std::vector<LostRecords> records;  // that were there, or must have been
};

using BatchVisitor =
    std::function<base::Result<void>(RecordNumber first, std::span<const base::ByteView> records)>;

// Visits the batches with records, in order; an error of the visitor ends it. Without an id, the
// journal is that of the first segment whose header can be read.
base::Result<Damage> read_damaged_journal(env::Disk& disk, const std::string& folder,
                                          std::optional<JournalId> id, const BatchVisitor& visit);

}  // namespace holdfast::store
