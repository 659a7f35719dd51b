// SPDX-License-Identifier: Apache-2.0
// Other definitions for a world: what became of applying them, and proposals of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/types.h"

namespace holdfast {

// An instance that has not ended, and so stands in the way of other definitions.
struct BlockingInstance {
  std::string workflow;
  Bytes key;           // canonical; empty if the workflow has none
  std::string status;  // running, waiting
  bool is_paused = false;
  std::uint64_t effects = 0;  // under way
  std::uint64_t mail = 0;     // messages that wait for it
};

// Whether definitions were applied, or could be.
struct Applied {
  std::uint64_t record = 0;                     // that holds it; 0: nothing was applied
  std::vector<BlockingInstance> blocking = {};  // the first 1000; empty: nothing stands in the way
  std::uint64_t blocking_count = 0;             // of all
};

// Checked: nothing is applied, only said whether it could be.
enum class ApplyMode : std::uint8_t { kApply, kCheck };

struct ProposalInfo {
  std::uint64_t id = 0;  // the record that proposed it
  std::string stage;     // proposed, shadowed, approved, rejected, applied
  Hash base;             // the manifest that it would follow
  Hash manifest;         // that it would put in its place
  std::string description;
  Bytes report;    // of a trial run, a canonical value; empty: there is none
  std::string by;  // who decided
  std::string reason;
};

struct ProposalDecision {
  std::uint64_t proposal = 0;
  bool approve = false;
  std::string by;
  std::string reason;
};

}  // namespace holdfast
