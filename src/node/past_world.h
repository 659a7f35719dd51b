// SPDX-License-Identifier: Apache-2.0
// PastWorld: a world as it was behind one of its records, out of files that are only looked at: the
// nearest snapshot at or before the record, and the records from there on, replayed in memory.
// Nothing is written, and no effect is performed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/world.h"
#include "node/scratch_blobs.h"
#include "node/trial_replay.h"
#include "store/blobs_look.h"
#include "store/journal_files.h"

namespace holdfast::node {

// Told the last record that was replayed, now and then.
using ReplayProgress = std::function<void(store::RecordNumber)>;

class PastWorld {
 public:
  // Behind `record`; what it is opened with must outlive it, `stored` may be null. kNotFound: the
  // journal does not have the record, or no snapshot that it could be come to from. kConflict: this
  // program has not the code of the world. kCorrupt: something that is needed is damaged. Other
  // errors are those of replay.
  static base::Result<std::unique_ptr<PastWorld>> at(const store::JournalFiles& journal,
                                                     store::BlobsLook* stored,
                                                     const kernel::MachineSource& machines,
                                                     store::RecordNumber record,
                                                     const ReplayProgress& progress = {});

  kernel::World& world() noexcept { return *world_; }
  ScratchBlobs& blobs() noexcept { return blobs_; }

  // Goes on to a later record.
  base::Result<void> go_on(const store::JournalFiles& journal, store::RecordNumber record,
                           const ReplayProgress& progress = {});

  // What it began with; nothing: with the first record.
  const std::optional<store::SnapshotEntry>& begun_with() const noexcept { return begun_with_; }
  std::uint64_t replayed() const noexcept { return replayed_; }

 private:
  PastWorld(store::BlobsLook* stored, const kernel::MachineSource& machines);

  base::Result<void> begin_with(const store::JournalFiles& journal,
                                const store::SnapshotEntry& snapshot);

  base::Error seen_from_outside(base::Error error) const;

  // Of what is in blobs: then another snapshot may do.
  base::Error of_blobs(base::Error error);

  WatchedMachines machines_;
  ScratchBlobs blobs_;
  std::optional<kernel::World> world_;
  std::optional<store::SnapshotEntry> begun_with_;
  std::uint64_t replayed_ = 0;
  bool another_may_do_ = false;  // when there is an error: whether it is one of the snapshot
};

// One record of a journal that is only looked at. kNotFound: it is not there.
base::Result<base::Bytes> record_in(const store::JournalFiles& journal, store::RecordNumber record);

}  // namespace holdfast::node
