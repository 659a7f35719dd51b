// SPDX-License-Identifier: Apache-2.0
#include "store/salvage_survey.h"

#include <algorithm>

#include "base/sha256.h"

namespace holdfast::store {

base::Result<void> SalvageSurvey::add(RecordNumber first, std::span<const base::ByteView> records) {
  const RecordNumber last = first + records.size() - 1;
  if (runs_.empty() || runs_.back().last + 1 != first) runs_.push_back({first, last});
  runs_.back().last = last;
  for (const SnapshotEntry& snapshot : snapshots_) {
    const RecordNumber before = snapshot.next_record - 1;
    if (before < first || before > last) continue;
    const base::ByteView record = records[static_cast<std::size_t>(before - first)];
    if (base::sha256(record) == snapshot.lineage) proven_.insert(snapshot.number);
  }
  return {};
}

std::optional<RecordRun> SalvageSurvey::run_of(const SnapshotEntry& snapshot) const {
  if (!proven_.contains(snapshot.number)) return std::nullopt;
  const RecordNumber before = snapshot.next_record - 1;
  for (const RecordRun& run : runs_) {
    if (run.first <= before && before <= run.last) return run;
  }
  return std::nullopt;
}

std::optional<RecordRun> SalvageSurvey::first_run() const {
  if (runs_.empty()) return std::nullopt;
  return runs_.front();
}

}  // namespace holdfast::store
