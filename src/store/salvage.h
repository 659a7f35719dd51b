// SPDX-License-Identifier: Apache-2.0
// Salvage: makes a new world of what can be read of a damaged one, which stays as it is. Never done
// by itself: the new world has forgotten things that the old one had promised.
//
// The new journal holds the first unbroken run of records, under their numbers: what is behind a
// loss cannot be replayed. It is kept beside the journal, as CBOR sequences (RFC 8742), for people.
// The file SALVAGED says all this, also while the salvage is under way; the new world has an id of
// its own.
#pragma once

#include <string>
#include <vector>

#include "env/process.h"
#include "env/random.h"
#include "store/damaged_journal.h"
#include "store/world_folder.h"

namespace holdfast::store {

inline constexpr const char* kSalvagedFile = "SALVAGED";

struct SalvageReport {
  RecordNumber first = 1;  // in the new journal
  RecordNumber last = 0;   // less than `first`: there is none

  // Records behind a loss.
  struct Aside {
    RecordNumber first = 0;
    RecordNumber last = 0;
    std::string file;  // in the new folder
  };
  std::vector<Aside> aside;
  Damage lost;
};

// kConflict: another process has the old world, or the new folder is there already.
base::Result<SalvageReport> salvage(env::Disk& disk, env::Random& random, env::Process& process,
                                    const std::string& from, const std::string& to);

// Whether the world came out of a salvage.
base::Result<bool> is_salvaged(const WorldFolder& world);

// The report as a document, for codec::to_json.
base::Bytes document_of(const SalvageReport& report, bool is_complete);

}  // namespace holdfast::store
