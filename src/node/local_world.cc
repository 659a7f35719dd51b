// SPDX-License-Identifier: Apache-2.0
#include "node/local_world.h"

#include <utility>
#include <vector>

#include "store/place.h"

namespace holdfast::node {

base::Result<std::unique_ptr<LocalWorld>> LocalWorld::open(env::Disk& disk, env::Random& random,
                                                           env::Process& process,
                                                           const std::string& path,
                                                           const kernel::MachineSource& machines,
                                                           const LocalWorldOptions& options) {
  if (!options.any_file_system) TRY(store::check_place(disk, path));
  store::WorldFolder folder = TRY(store::WorldFolder::open(disk, random, process, path));
  std::unique_ptr<LocalWorld> open(new LocalWorld(std::move(folder)));
  open->opened_ = TRY(store::open_file_journal(open->folder_, options.journal));
  open->blobs_ = TRY(store::BlobStore::open(open->folder_));
  open->snapshots_ = TRY(store::Snapshots::open(*open->blobs_));
  open->kernel_blobs_ = std::make_unique<StoreBlobs>(*open->blobs_, StoreBlobs::kMostWaitingBytes,
                                                     options.much_waiting_bytes);
  open->collector_ = std::make_unique<Collector>(*open->kernel_blobs_, *open->blobs_,
                                                 *open->snapshots_, options.collect_from_bytes);
  open->restored_.emplace(TRY(
      restore(machines, *open->kernel_blobs_, *open->snapshots_, open->journal(), options.world)));
  return open;
}

base::Result<FinishedSnapshot> LocalWorld::finish_snapshot(const BegunSnapshot& begun,
                                                           const SnapshotOptions& options) {
  TRY(kernel_blobs_->with_store([this] { return forget_left_out(); }));
  return node::finish_snapshot(begun, *kernel_blobs_, snapshots(), journal(), options);
}

base::Result<store::SnapshotEntry> LocalWorld::take_snapshot(std::int64_t time_ns,
                                                             const SnapshotOptions& options) {
  auto forgotten = forget_left_out();
  if (!forgotten) {
    // As with the snapshot itself: without room it can be tried again, and nothing else.
    if (forgotten.error().code() != base::ErrorCode::kUnavailable) world().fail(forgotten.error());
    return std::move(forgotten).error();
  }
  return node::take_snapshot(world(), *kernel_blobs_, snapshots(), journal(), time_ns, options);
}

base::Result<void> LocalWorld::forget_left_out() {
  RestoreReport& report = restored_->report;
  if (!report.still_listed) return {};
  std::vector<store::SnapshotEntry> useless;
  for (const RestoreReport::LeftOut& each : report.left_out) useless.push_back(each.snapshot);
  TRY(snapshots().forget(useless));
  report.still_listed = false;
  return {};
}

BeginSnapshot snapshots_of(LocalWorld& world, ReadersNeed readers_need) {
  return [&world, readers_need = std::move(readers_need)](
             std::uint64_t last_ns) -> base::Result<FinishSnapshot> {
    // Shared, as a std::function must be copied.
    const auto begun = std::make_shared<const BegunSnapshot>(
        TRY(world.begin_snapshot(static_cast<std::int64_t>(last_ns))));
    return FinishSnapshot([&world, begun, readers_need]() -> base::Result<store::RecordNumber> {
      SnapshotOptions options;
      if (readers_need) options.readers_need = readers_need();
      return TRY(world.finish_snapshot(*begun, options)).needed;
    });
  };
}

}  // namespace holdfast::node
