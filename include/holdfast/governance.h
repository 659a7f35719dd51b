// SPDX-License-Identifier: Apache-2.0
// Other definitions for a world: what became of applying them, and proposals of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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

// What of the journal is fed again when a proposal is tried, and how much that may take.
struct TrialOptions {
  // 0: where the present definitions were applied, if that is among the last `records`. The trial
  // begins with the first moment from there on when nothing was under way.
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // 0: the last
  std::uint64_t records = 1'000'000;
  std::uint64_t bytes = std::uint64_t{512} << 20;  // of records and states that are read and made
  std::chrono::milliseconds time = std::chrono::seconds(60);
  std::function<bool()> stopped = {};  // asked now and then: nobody wants it any more
  std::string by = {};                 // who asked, for the record
};

struct Tried {
  std::uint64_t record = 0;  // that holds the report
  Bytes report;              // a value (CBOR), its keys in the order of docs/api.md
};

struct ProposalDecision {
  std::uint64_t proposal = 0;
  bool approve = false;
  std::string by;
  std::string reason;
};

}  // namespace holdfast
