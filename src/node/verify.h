// SPDX-License-Identifier: Apache-2.0
// Verifying a world offline: every byte of its journal, what its records say of each other, and
// that replaying them comes to the same, and to the snapshots. Nothing is changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "kernel/program.h"
#include "node/witnesses.h"
#include "store/journal_files.h"

namespace holdfast::node {

struct VerifyReport {
  store::RecordNumber first = 1;
  store::RecordNumber last = 0;  // what the journal says it holds
  std::size_t segments = 0;
  std::uint64_t records = 0;     // read, and each of them whole
  std::uint64_t instances = 0;   // whose back-references were followed
  std::uint64_t unfollowed = 0;  // instances beyond what we can remember

  std::size_t snapshots = 0;             // that are listed
  std::uint64_t snapshots_replayed = 0;  // of them: that replay came to

  std::uint64_t sealed = 0;              // records that are as they were sealed
  std::optional<store::Seal> last_seal;  // nothing: there are no seals

  std::uint64_t replayed = 0;  // records that came out as they were
  std::string replay_stopped;  // why not all of them; empty: all of them, or `errors` says why

  base::Errors errors;             // what is wrong, in the order in which it was found
  std::vector<std::string> notes;  // what is worth knowing and harmless
};

// A journal that was trimmed is replayed from its oldest snapshot on. Machines that a world needs
// and that are not there are no error: replay stops, and the report says why. `progress` is told
// the records that were read.
VerifyReport verify_journal(const store::JournalFiles& journal,
                            const kernel::MachineSource& machines, const Witnesses& witnesses = {},
                            const std::function<void(store::RecordNumber)>& progress = {});

}  // namespace holdfast::node
