// SPDX-License-Identifier: Apache-2.0
// Forking: a new world whose state is that of another one behind one of its records. The other one
// is only looked at.
//
// The new world has an id of its own, and what it opens has identities of its own. It holds no
// records from before but the one it begins behind, and one snapshot. What was open at that record
// belongs to the other world, which performs it, or has performed it: here
//   - every instance that has not ended is paused,
//   - every open effect but a timer is settled with the error "world.forked", and is not performed,
//   - timers stay open, and so do effects that run another instance, which is paused, too: nobody
//     outside hears of them.
// So nothing happens until somebody resumes an instance, which then hears of the error.
#pragma once

#include <cstdint>
#include <string>

#include "env/process.h"
#include "node/past_world.h"

namespace holdfast::node {

struct ForkReport {
  store::RecordNumber record = 0;  // the state is that behind it
  std::uint64_t paused = 0;        // instances
  std::uint64_t settled = 0;       // effects
  std::uint64_t timers = 0;        // that stay open
};

struct ForkPlace {
  env::Disk& disk;
  env::Random& random;
  env::Process& process;
  std::string path;  // must not be there
  std::uint64_t time_ns = 0;
  bool any_file_system = false;
};

// kConflict: the new folder is there already. What was begun and could not be ended stays under the
// name of the new folder with ".unfinished" behind it, and keeps another fork from there.
// The blobs that workflows put in the other world (`from`) are taken along, all of them.
base::Result<ForkReport> fork_world(const store::WorldPlace& from,
                                    const store::JournalFiles& journal, store::BlobsLook* stored,
                                    const kernel::MachineSource& machines,
                                    store::RecordNumber record, const ForkPlace& to,
                                    const ReplayProgress& progress = {});

}  // namespace holdfast::node
