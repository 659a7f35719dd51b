// SPDX-License-Identifier: Apache-2.0
// Verifying the index of instances: it is made again from the records, elsewhere, and every row of
// every table is compared. The index itself is only looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "kernel/world.h"
#include "store/database_look.h"
#include "store/journal_files.h"

namespace holdfast::node {

struct HistoryFindings {
  bool is_there = false;
  bool is_compared = false;  // false: the journal has not all records that are in it any more, or
                             // the snapshot is gone that it began with
  std::uint64_t rows = 0;    // of all tables
};

// The world of the snapshot before this record; null: it is not there any more.
using SnapshotWorld = std::function<base::Result<kernel::World*>(store::RecordNumber next_record)>;

// `scratch`: a folder with nothing in it, for the index that is made. What is wrong with the one of
// the world goes into `errors`; an error that is returned is about making the other.
base::Result<HistoryFindings> verify_history(
    const store::JournalFiles& journal, const store::WorldPlace& world, store::WorldFolder& scratch,
    const SnapshotWorld& snapshot, base::Errors& errors,
    const std::function<void(store::RecordNumber)>& progress = {});

// Whether a database of a world has the tables that a new one of this name has, as they were made.
base::Result<void> verify_tables(const store::WorldPlace& world, const store::WorldPlace& made,
                                 const std::string& file, base::Errors& errors);

}  // namespace holdfast::node
