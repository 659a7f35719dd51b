// SPDX-License-Identifier: Apache-2.0
// What a damaged journal holds: its unbroken runs of records, and which snapshots are of it. The
// first look of a salvage, by which it decides what to keep.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "store/damaged_journal.h"
#include "store/snapshots.h"

namespace holdfast::store {

struct RecordRun {
  RecordNumber first = 0;
  RecordNumber last = 0;
};

class SalvageSurvey {
 public:
  explicit SalvageSurvey(std::vector<SnapshotEntry> snapshots) : snapshots_(std::move(snapshots)) {}

  // The next batch that can be read.
  base::Result<void> add(RecordNumber first, std::span<const base::ByteView> records);

  // From the newest.
  const std::vector<SnapshotEntry>& snapshots() const noexcept { return snapshots_; }

  // The run that the snapshot stands in: the record before it is there, and is the one that it was
  // taken after.
  std::optional<RecordRun> run_of(const SnapshotEntry& snapshot) const;

  std::optional<RecordRun> first_run() const;

 private:
  std::vector<SnapshotEntry> snapshots_;
  std::vector<RecordRun> runs_;
  std::set<std::uint64_t> proven_;  // snapshots, by number
};

}  // namespace holdfast::store
