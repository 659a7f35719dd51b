// SPDX-License-Identifier: Apache-2.0
// The trial run of other definitions: a world is taken back to a moment when nothing was under way,
// gets them there, and is fed again with what came since. The same is done with the present
// definitions, and what has become of each instance in the two is compared: so what differs is owed
// to the definitions, and not to the trial. Nothing is performed: an effect that is opened gets the
// receipt that the same effect of the same instance, with the same params, got in truth; one that
// nobody asked for in truth stays open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/past_world.h"

namespace holdfast::node {

struct ShadowOptions {
  // So many records back at most; the beginning is the first moment from there on when nothing was
  // under way.
  std::uint64_t most_records = 1'000'000;
};

// As it came out; without status: there is no such instance.
struct ShadowSide {
  std::string status;
  base::Bytes state;    // empty: none
  base::Bytes outcome;  // empty: it has not ended
};

struct ShadowDifference {
  std::string workflow;
  base::Bytes key;
  ShadowSide present;  // under the present definitions
  ShadowSide tried;
};

struct ShadowReport {
  static constexpr std::size_t kMostListed = 100;

  store::RecordNumber from = 0;  // the records that were fed again
  store::RecordNumber to = 0;
  std::uint64_t fed = 0;      // ticks
  std::uint64_t refused = 0;  // of them, by the other definitions
  std::vector<std::string> refusals;
  std::string stopped;         // why not everything was fed; empty: it was
  std::uint64_t answered = 0;  // effects that got a recorded receipt
  std::uint64_t unwanted = 0;  // recorded receipts that nobody waited for
  std::uint64_t effects = 0;   // of instances, by name, that were opened more or less often
  std::vector<std::string> effect_differences;
  std::uint64_t instances = 0;  // that were compared
  std::uint64_t different = 0;
  std::vector<ShadowDifference> differences;  // the first kMostListed
};

// `definitions`: a closure (kernel/program.h). kConflict, kInvalid: it cannot be run, or there is
// no moment when it could be applied, or nothing came since; the message says why.
base::Result<ShadowReport> shadow(const store::JournalFiles& journal, store::BlobsLook* stored,
                                  const kernel::MachineSource& machines, base::ByteView definitions,
                                  const ShadowOptions& options = {},
                                  const ReplayProgress& progress = {});

// For a proposal: CBOR, within the size that one may have. Values that are large are left out.
base::Bytes document_of(const ShadowReport& report);

}  // namespace holdfast::node
