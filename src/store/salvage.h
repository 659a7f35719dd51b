// SPDX-License-Identifier: Apache-2.0
// Salvage: makes a new world of what can be read of a damaged one, which stays as it is. Never done
// by itself: the new world has forgotten things that the old one had promised.
//
// The new journal holds one unbroken run of records, under their numbers: the one that the newest
// snapshot stands in which is whole, or else the first one: what is behind a loss cannot be
// replayed without a snapshot. The snapshots of the run are taken along, with the blobs that they
// reach, and so are all blobs that workflows put. The other records are kept beside the journal, as
// CBOR sequences (RFC 8742), for people. The file SALVAGED says all this. While the salvage is
// under way the file SALVAGING is there, and nobody else can open the world; one that was
// interrupted has to be done again. The new world has an id of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/process.h"
#include "env/random.h"
#include "store/blob_marks.h"
#include "store/damaged_journal.h"
#include "store/world_folder.h"

namespace holdfast::store {

inline constexpr const char* kSalvagedFile = "SALVAGED";

struct SalvageReport {
  RecordNumber first = 1;  // in the new journal
  RecordNumber last = 0;   // less than `first`: there is none

  // Records before or behind a loss, of another run.
  struct Aside {
    RecordNumber first = 0;
    RecordNumber last = 0;
    std::string file;  // in the new folder
  };
  std::vector<Aside> aside;

  // Those of the old world, from the newest.
  struct Snapshot {
    RecordNumber next_record = 0;
    std::string left_out;  // why; empty: it was taken along
  };
  std::vector<Snapshot> snapshots;
  std::uint64_t effect_blobs = 0;  // that workflows put, and that were taken along
  Damage lost;
};

// `shapes`: how blobs are read. kConflict: another process has the old world, or the new folder is
// there already. `progress` is told the records that were read; each is read twice.
base::Result<SalvageReport> salvage(env::Disk& disk, env::Random& random, env::Process& process,
                                    const std::string& from, const std::string& to,
                                    const BlobShapes& shapes,
                                    const std::function<void(RecordNumber)>& progress = {});

// Whether the world came out of a salvage.
base::Result<bool> is_salvaged(const WorldFolder& world);

// The report as a document, for codec::to_json.
base::Bytes document_of(const SalvageReport& report, bool is_complete);

}  // namespace holdfast::store
