// SPDX-License-Identifier: Apache-2.0
#include "node/take_snapshot.h"

#include <algorithm>

namespace holdfast::node {
namespace {

base::Result<store::SnapshotEntry> keep(kernel::World& world, base::ByteView snapshot,
                                        StoreBlobs& blobs, store::Snapshots& snapshots,
                                        store::Journal& journal, std::int64_t time_ns,
                                        const SnapshotOptions& options) {
  TRY(blobs.make_durable());
  auto entry = TRY(snapshots.add(journal, world.next_record(), snapshot, time_ns, options.keep));
  const auto needed = store::records_needed(TRY(snapshots.list()), options.keep);
  // The snapshot is listed; what cannot be let go of now is let go of with the next one.
  auto trimmed = journal.trim(std::min(needed, options.readers_need));
  if (!trimmed && trimmed.error().code() != base::ErrorCode::kUnavailable)
    return std::move(trimmed).error();
  return entry;
}

}  // namespace

base::Result<store::SnapshotEntry> take_snapshot(kernel::World& world, StoreBlobs& blobs,
                                                 store::Snapshots& snapshots,
                                                 store::Journal& journal, std::int64_t time_ns,
                                                 const SnapshotOptions& options) {
  if (world.next_record() != journal.durable() + 1) {
    return base::Error(base::ErrorCode::kConflict,
                       "record " + std::to_string(world.next_record() - 1),
                       "the journal is durable up to record " + std::to_string(journal.durable()));
  }
  const base::Bytes bytes = TRY(world.snapshot());
  auto entry = keep(world, bytes, blobs, snapshots, journal, time_ns, options);
  // Without room nothing is lost: the world's blobs wait in memory.
  if (!entry && entry.error().code() != base::ErrorCode::kUnavailable) world.fail(entry.error());
  return entry;
}

}  // namespace holdfast::node
