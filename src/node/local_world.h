// SPDX-License-Identifier: Apache-2.0
// LocalWorld: a world in a folder of this machine, open: ours alone, its journal recovered, its
// state restored and replayed. Everything that a node stands on, and no more; no threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/disk.h"
#include "env/process.h"
#include "env/random.h"
#include "node/collector.h"
#include "node/restore.h"
#include "node/store_blobs.h"
#include "node/take_snapshot.h"
#include "store/file_journal.h"

namespace holdfast::node {

struct LocalWorldOptions {
  store::JournalOptions journal;
  kernel::WorldOptions world;

  // Blobs that nobody needs are removed when their file is larger than this.
  std::uint64_t collect_from_bytes = Collector::kLeastBytes;

  // When so many bytes of the kernel's blobs wait for a snapshot, they are written ahead of it.
  std::size_t much_waiting_bytes = StoreBlobs::kMuchWaitingBytes;

  // Also on a file system that cannot keep what we promise (another machine's, a container's, one
  // in memory): somebody has decided that it will do.
  bool any_file_system = false;
};

class LocalWorld {
 public:
  // Begins the world if there is none. Whatever it is opened with must outlive it. kConflict:
  // another process has it, or the place is not fit for a world; the message says which and why.
  static base::Result<std::unique_ptr<LocalWorld>> open(env::Disk& disk, env::Random& random,
                                                        env::Process& process,
                                                        const std::string& path,
                                                        const kernel::MachineSource& machines,
                                                        const LocalWorldOptions& options = {});

  store::WorldFolder& folder() noexcept { return folder_; }
  kernel::World& world() noexcept { return restored_->world; }
  store::Journal& journal() noexcept { return *opened_.journal; }
  store::BlobStore& blobs() noexcept { return *blobs_; }
  StoreBlobs& kernel_blobs() noexcept { return *kernel_blobs_; }
  store::Snapshots& snapshots() noexcept { return *snapshots_; }
  Collector& collector() noexcept { return *collector_; }

  const store::RecoveryReport& recovery() const noexcept { return opened_.report; }
  const RestoreReport& restoring() const noexcept { return restored_->report; }

  // As node::begin_snapshot and the others. What was of no use at opening, and is still listed,
  // goes first: only so many are kept, and it would stand in the place of a good one.
  base::Result<BegunSnapshot> begin_snapshot(std::int64_t time_ns) {
    return node::begin_snapshot(world(), *kernel_blobs_, journal(), time_ns);
  }
  base::Result<FinishedSnapshot> finish_snapshot(const BegunSnapshot& begun,
                                                 const SnapshotOptions& options = {});
  base::Result<store::SnapshotEntry> take_snapshot(std::int64_t time_ns,
                                                   const SnapshotOptions& options = {});

 private:
  explicit LocalWorld(store::WorldFolder folder) : folder_(std::move(folder)) {}

  base::Result<void> forget_left_out();

  // Each stands on those before it.
  store::WorldFolder folder_;
  store::OpenedJournal opened_;
  std::unique_ptr<store::BlobStore> blobs_;
  std::unique_ptr<store::Snapshots> snapshots_;
  std::unique_ptr<StoreBlobs> kernel_blobs_;
  std::unique_ptr<Collector> collector_;
  std::optional<RestoredWorld> restored_;
};

// For a loop that runs the world.
using ReadersNeed = std::function<store::RecordNumber()>;  // SnapshotOptions::readers_need
BeginSnapshot snapshots_of(LocalWorld& world, ReadersNeed readers_need = {});

}  // namespace holdfast::node
