// SPDX-License-Identifier: Apache-2.0
#include "node/take_snapshot.h"

#include <algorithm>

namespace holdfast::node {

base::Result<BegunSnapshot> begin_snapshot(kernel::World& world, StoreBlobs& blobs,
                                           const store::Journal& journal, std::int64_t time_ns) {
  if (world.next_record() != journal.durable() + 1) {
    return base::Error(base::ErrorCode::kConflict,
                       "record " + std::to_string(world.next_record() - 1),
                       "the journal is durable up to record " + std::to_string(journal.durable()));
  }
  BegunSnapshot begun;
  begun.next_record = world.next_record();
  begun.time_ns = time_ns;
  begun.bytes = TRY(world.snapshot());
  blobs.begin_writing();
  return begun;
}

base::Result<FinishedSnapshot> finish_snapshot(const BegunSnapshot& begun, StoreBlobs& blobs,
                                               store::Snapshots& snapshots, store::Journal& journal,
                                               const SnapshotOptions& options) {
  FinishedSnapshot finished;
  TRY(blobs.finish_writing([&]() -> base::Result<void> {
    finished.entry =
        TRY(snapshots.add(journal, begun.next_record, begun.bytes, begun.time_ns, options.keep));
    const auto needed = store::records_needed(TRY(snapshots.list()), options.keep);
    finished.needed = std::min(needed, options.readers_need);
    return {};
  }));
  return finished;
}

base::Result<store::SnapshotEntry> take_snapshot(kernel::World& world, StoreBlobs& blobs,
                                                 store::Snapshots& snapshots,
                                                 store::Journal& journal, std::int64_t time_ns,
                                                 const SnapshotOptions& options) {
  const BegunSnapshot begun = TRY(begin_snapshot(world, blobs, journal, time_ns));
  auto finished = finish_snapshot(begun, blobs, snapshots, journal, options);
  if (!finished) {
    // Without room nothing is lost: the world's blobs wait in memory.
    if (finished.error().code() != base::ErrorCode::kUnavailable) world.fail(finished.error());
    return std::move(finished).error();
  }
  // The snapshot is listed; what cannot be let go of now is let go of with the next one.
  auto trimmed = journal.trim(finished->needed);
  if (trimmed || trimmed.error().code() == base::ErrorCode::kUnavailable) return finished->entry;
  world.fail(trimmed.error());
  return std::move(trimmed).error();
}

}  // namespace holdfast::node
