// SPDX-License-Identifier: Apache-2.0
// The trial run of other definitions: a world is taken back to a moment when nothing was under way,
// gets the other definitions there, and is fed again with what came since. Nothing is performed: an
// effect that is opened gets the receipt that the same effect of the same instance, with the same
// params, got in truth; one that nobody asked for in truth stays open. Then what has become of each
// instance is compared with what became of it in truth.
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
  ShadowSide recorded;
  ShadowSide tried;
};

struct ShadowReport {
  static constexpr std::size_t kMostListed = 100;

  store::RecordNumber from = 0;  // the records that were fed again
  store::RecordNumber to = 0;
  std::uint64_t fed = 0;      // ticks
  std::uint64_t refused = 0;  // of them, by the other definitions
  std::vector<std::string> refusals;
  std::uint64_t answered = 0;    // effects that got a recorded receipt
  std::uint64_t unanswered = 0;  // effects that nobody asked for in truth
  std::vector<std::string> unanswered_effects;
  std::uint64_t unwanted = 0;   // recorded receipts that nobody waited for
  std::uint64_t instances = 0;  // that were compared
  std::uint64_t different = 0;
  std::vector<ShadowDifference> differences;  // the first kMostListed
};

// `definitions`: a closure (kernel/program.h). kConflict, kInvalid: it cannot be run, or there is
// no moment when it could be applied; the message says why.
base::Result<ShadowReport> shadow(const store::JournalFiles& journal, store::BlobsLook* stored,
                                  const kernel::MachineSource& machines, base::ByteView definitions,
                                  const ShadowOptions& options = {},
                                  const ReplayProgress& progress = {});

// For a proposal: CBOR, within the size that one may have. Values that are large are left out.
base::Bytes document_of(const ShadowReport& report);

}  // namespace holdfast::node
