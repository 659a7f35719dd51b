// SPDX-License-Identifier: Apache-2.0
// Taking a snapshot: everything that the world is goes into blobs, the blobs are made durable, the
// snapshot is listed, and the journal lets go of records that nobody needs any more. The first part
// is the world's, between two ticks; the second may go on beside it.
#pragma once

#include <cstdint>
#include <functional>
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

// One that was begun, and is all in memory, with the blobs that were begun.
struct BegunSnapshot {
  store::RecordNumber next_record = 1;
  base::Bytes bytes;
  std::int64_t time_ns = 0;
};

// Between ticks, when all records of the world are durable in the journal; kConflict otherwise, and
// then nothing was done. kUnavailable: there is no room; the world can go on, and it can be tried
// again. After any other error the world has failed: restore it. The blobs are those of the world.
base::Result<BegunSnapshot> begin_snapshot(kernel::World& world, StoreBlobs& blobs,
                                           const store::Journal& journal, std::int64_t time_ns);

// What a loop needs of it: `begin` is told the time of the last tick and gives what is to be done
// beside the world, which gives `needed`.
using FinishSnapshot = std::function<base::Result<store::RecordNumber>()>;
using BeginSnapshot = std::function<base::Result<FinishSnapshot>(std::uint64_t last_ns)>;

struct FinishedSnapshot {
  store::SnapshotEntry entry;
  store::RecordNumber needed = 1;  // the journal may let go of the records before this one
};

// From any thread, one at a time. Errors as above, but that it is for the caller to end the world.
// The snapshots are beside the blobs.
base::Result<FinishedSnapshot> finish_snapshot(const BegunSnapshot& begun, StoreBlobs& blobs,
                                               store::Snapshots& snapshots, store::Journal& journal,
                                               const SnapshotOptions& options = {});

// All of it at once. After an error other than kConflict and kUnavailable the world has failed.
base::Result<store::SnapshotEntry> take_snapshot(kernel::World& world, StoreBlobs& blobs,
                                                 store::Snapshots& snapshots,
                                                 store::Journal& journal, std::int64_t time_ns,
                                                 const SnapshotOptions& options = {});

}  // namespace holdfast::node
