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

// What is fed again: a stretch of the journal. The trial begins with the first moment in it when
// nothing was under way.
struct ShadowOptions {
  // 0: where the present definitions were applied, if that is among the last `most_records`.
  store::RecordNumber from = 0;
  store::RecordNumber to = 0;  // 0: the last
  std::uint64_t most_records = 1'000'000;
  PastLimits limits = {};  // of each of the two runs
};

// Both are closures (kernel/program.h).
struct ShadowDefinitions {
  base::Bytes present;  // empty: there are none
  base::Bytes tried;
};

// Those of a world that has the proposal. kNotFound: it has not. kConflict: it is decided already.
base::Result<ShadowDefinitions> definitions_to_try(const kernel::World& world,
                                                   std::uint64_t proposal);

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

// An effect in the two runs: how often it was opened, and how often it was open at the end.
struct ShadowEffect {
  std::string effect;
  std::uint64_t opened_present = 0;
  std::uint64_t opened_tried = 0;
  std::uint64_t open_present = 0;
  std::uint64_t open_tried = 0;
};

// Of the instances that were compared. Without a name: those that are not there.
struct ShadowStatus {
  std::string status;
  std::uint64_t present = 0;
  std::uint64_t tried = 0;
};

// That a workflow may open an effect.
struct ShadowAllowed {
  std::string workflow;
  std::string effect;
  bool present = false;
  bool tried = false;
};

struct ShadowReport {
  // Of each list, what differs first.
  static constexpr std::size_t kMostListed = 100;

  base::Hash present_manifest;
  base::Hash tried_manifest;
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
  std::uint64_t effect_kinds = 0;  // that were opened
  std::vector<ShadowEffect> effect_counts;
  std::uint64_t allowed = 0;  // effects of workflows, in either
  std::uint64_t allowed_differently = 0;
  std::vector<ShadowAllowed> allow_lists;
  std::vector<ShadowStatus> statuses;
  std::uint64_t instances = 0;  // that were compared
  std::uint64_t different = 0;
  std::vector<ShadowDifference> differences;
};

// kConflict, kInvalid: it cannot be run, or there is no moment when it could be applied, or nothing
// came since; the message says why. kNotFound: the journal has not what the options ask for.
// kTooLarge: it passes the limits.
base::Result<ShadowReport> shadow(const PastSource& source, const kernel::MachineSource& machines,
                                  const ShadowDefinitions& definitions,
                                  const ShadowOptions& options = {},
                                  const ReplayProgress& progress = {});

// Of a value, a key or a text that stands in the report as it is; of a larger one the hash does.
inline constexpr std::size_t kMostReportValueBytes = 1024;

// For a proposal: CBOR, within the size that one may have (kernel::kMaxReportBytes).
base::Bytes document_of(const ShadowReport& report);

}  // namespace holdfast::node
