// SPDX-License-Identifier: Apache-2.0
// Restoring: a world out of its newest good snapshot and the records behind it. Every record is
// reduced again and must come out as it was.
//
// A snapshot that is not whole is left out and reported; the one before it needs a longer replay.
// Without any, the journal must begin with the first record. Whatever else goes wrong is refused,
// and names the place. So is a snapshot whose last record the journal does not have: it shows that
// records are lost that somebody may have been promised.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/world.h"
#include "store/journal.h"
#include "store/snapshots.h"

namespace holdfast::node {

struct RestoreReport {
  std::optional<store::SnapshotEntry> snapshot;  // nothing: from the first record on
  std::uint64_t replayed = 0;

  struct LeftOut {
    store::SnapshotEntry snapshot;
    std::string why;
  };
  std::vector<LeftOut> left_out;
  bool still_listed = false;  // those left out: there was no room to take them off the list
};

struct RestoredWorld {
  kernel::World world;
  RestoreReport report;
};

// Machines and blobs must outlive the world.
base::Result<RestoredWorld> restore(const kernel::MachineSource& machines, kernel::Blobs& blobs,
                                    store::Snapshots& snapshots, store::Journal& journal,
                                    kernel::WorldOptions options = {});

}  // namespace holdfast::node
