// SPDX-License-Identifier: Apache-2.0
// Taking a snapshot: everything that the world is goes into blobs, the blobs are made durable, the
// snapshot is listed, and the journal lets go of records that nobody needs any more.
#pragma once

#include <cstdint>
#include <limits>

#include "kernel/world.h"
#include "node/store_blobs.h"
#include "store/journal.h"
#include "store/snapshots.h"

namespace holdfast::node {

struct SnapshotOptions {
  std::size_t keep = store::kSnapshotsKept;

  // Records from here on have readers of their own, as the history index is one.
  store::RecordNumber readers_need = std::numeric_limits<store::RecordNumber>::max();
};

// Between ticks, when all records of the world are durable in the journal; kConflict otherwise, and
// then nothing was done. kUnavailable: there is no room; the world can go on, and it can be tried
// again. After any other error the world has failed: restore it. The blobs are those of the world,
// and the snapshots are beside them.
base::Result<store::SnapshotEntry> take_snapshot(kernel::World& world, StoreBlobs& blobs,
                                                 store::Snapshots& snapshots,
                                                 store::Journal& journal, std::int64_t time_ns,
                                                 const SnapshotOptions& options = {});

}  // namespace holdfast::node
