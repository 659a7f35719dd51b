// SPDX-License-Identifier: Apache-2.0
// PastWorld: a world as it was behind one of its records: the nearest snapshot at or before the
// record, and the records from there on, replayed in memory. It is read from files that nobody has
// open, or beside a world that runs. Nothing is written, and no effect is performed.
#pragma once

#include <functional>
#include <limits>
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
inline constexpr std::uint64_t kRecordsPerReport = 4096;

// What a past world is read from.
struct PastSource {
  // Looked at under the lock of the world; both must outlive it, `stored` may be null.
  static base::Result<PastSource> of(const store::JournalFiles& journal, store::BlobsLook* stored);

  // The earliest moment that these snapshots and records lead to, as the record that it is behind;
  // 0: that before the first. Nothing: there is none. Whether what it needs is whole is not asked.
  std::optional<store::RecordNumber> first_moment() const;

  store::RecordNumber first = 1;
  store::RecordNumber last = 0;
  std::function<base::Result<std::unique_ptr<store::JournalReader>>(store::RecordNumber)> read;
  ScratchBlobs::Get blob;                       // nothing: there are none
  std::vector<store::SnapshotEntry> snapshots;  // from the newest

  // Told what came out differently in a record; then the replay goes on (see
  // World::replay_comparing), unless this has an error. Nothing: a difference is an error.
  using Tolerate =
      std::function<base::Result<void>(store::RecordNumber, std::vector<kernel::ReplayDifference>)>;
  Tolerate tolerate = {};
};

// How much a look may take in all, whichever snapshots are tried for it and however far it goes on;
// kTooLarge beyond that.
struct PastLimits {
  std::uint64_t records = std::numeric_limits<std::uint64_t>::max();  // that are replayed
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();    // of records and blobs
  // Asked before every record and every blob, so that at most one of them is between two questions;
  // its error ends the look.
  std::function<base::Result<void>()> goes_on = {};
};

// What is left of it.
class PastBudget {
 public:
  explicit PastBudget(PastLimits limits) : limits_(std::move(limits)) {}

  base::Result<void> ask();

  // So many records lie between a snapshot and what is looked for.
  base::Result<void> check_way(std::uint64_t records);

  // `held`: what was made of the records and is in memory.
  base::Result<void> take_record(std::size_t bytes, std::uint64_t held);
  base::Result<void> take_bytes(std::size_t bytes, std::uint64_t held);

  // It has refused something: no other snapshot makes that good.
  bool is_over() const noexcept { return is_over_; }

 private:
  base::Error over(base::Error error);

  const PastLimits limits_;
  std::uint64_t records_ = 0;  // taken
  std::uint64_t bytes_ = 0;
  bool is_over_ = false;
};

class PastWorld {
 public:
  // Behind `record`; what it is opened with must outlive it, `stored` may be null. kNotFound: the
  // journal does not have the record, or no snapshot that it could be come to from. kConflict: this
  // program has not the code of the world. kCorrupt: something that is needed is damaged. Other
  // errors are those of replay.
  static base::Result<std::unique_ptr<PastWorld>> at(const PastSource& source,
                                                     const kernel::MachineSource& machines,
                                                     store::RecordNumber record,
                                                     const PastLimits& limits = {},
                                                     const ReplayProgress& progress = {});
  static base::Result<std::unique_ptr<PastWorld>> at(const store::JournalFiles& journal,
                                                     store::BlobsLook* stored,
                                                     const kernel::MachineSource& machines,
                                                     store::RecordNumber record,
                                                     const ReplayProgress& progress = {});

  kernel::World& world() noexcept { return *world_; }
  ScratchBlobs& blobs() noexcept { return blobs_; }

  // Goes on to a later record.
  base::Result<void> go_on(const PastSource& source, store::RecordNumber record,
                           const ReplayProgress& progress = {});
  base::Result<void> go_on(const store::JournalFiles& journal, store::RecordNumber record,
                           const ReplayProgress& progress = {});

  // The same, but only until `enough` says so, which is asked behind every record, and first of
  // all. False: it never did. How far that is shows on the way, so the limits end it there.
  using Enough = std::function<bool(const kernel::World&)>;
  base::Result<bool> go_on_until(const PastSource& source, store::RecordNumber record,
                                 const Enough& enough, const ReplayProgress& progress = {});

  // For whoever goes on with ticks of their own: takes so many bytes more of what the limits allow,
  // and asks whether to go on.
  base::Result<void> take(std::size_t bytes);

  // What it began with; nothing: with the first record.
  const std::optional<store::SnapshotEntry>& begun_with() const noexcept { return begun_with_; }
  std::uint64_t replayed() const noexcept { return replayed_; }

 private:
  PastWorld(ScratchBlobs::Get stored, const kernel::MachineSource& machines,
            std::shared_ptr<PastBudget> budget);

  base::Result<void> begin_with(const PastSource& source, const store::SnapshotEntry& snapshot);

  base::Error seen_from_outside(base::Error error) const;

  base::Result<void> replay(const PastSource& source, const store::Record& record);

  // Of what is in blobs: then another snapshot may do.
  base::Error of_blobs(base::Error error);

  WatchedMachines machines_;
  const std::shared_ptr<PastBudget> budget_;  // of the whole look
  ScratchBlobs blobs_;
  std::optional<kernel::World> world_;
  std::optional<store::SnapshotEntry> begun_with_;
  std::uint64_t replayed_ = 0;
  bool another_may_do_ = false;  // when there is an error: whether it is one of the snapshot
};

// One record of a journal that is only looked at. kNotFound: it is not there.
base::Result<base::Bytes> record_in(const store::JournalFiles& journal, store::RecordNumber record);
base::Result<base::Bytes> record_in(const PastSource& source, store::RecordNumber record);

}  // namespace holdfast::node
