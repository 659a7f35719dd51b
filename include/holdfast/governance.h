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

// The instances of one workflow that stand in the way, and what changes for them.
struct BlockedWorkflow {
  std::string workflow;
  std::uint64_t instances = 0;
  // Up to 16 names of definitions, and routes of events; empty: nothing, but it is asked for
  // strictly.
  std::vector<std::string> because = {};
};

// Whether definitions were applied, or could be.
struct Applied {
  std::uint64_t record = 0;                     // that holds it; 0: nothing was applied
  std::vector<BlockingInstance> blocking = {};  // the first 1000; empty: nothing stands in the way
  std::uint64_t blocking_count = 0;             // of all
  std::vector<BlockedWorkflow> blocking_workflows = {};

  bool unchanged = false;  // the world has these definitions already
  // Names of definitions, 1000 each at most.
  std::vector<std::string> added = {};
  std::vector<std::string> changed = {};
  std::vector<std::string> removed = {};

  // Instances of these keep the version that they began with; `because` is empty.
  std::vector<BlockedWorkflow> pinned = {};
};

// Checked: nothing is applied, only said whether it could be.
enum class ApplyMode : std::uint8_t { kApply, kCheck };

// Only instances that are touched by what changes stand in the way; strict: all that have not
// ended.
struct ApplyOptions {
  // NOLINTNEXTLINE(google-explicit-constructor): the mode is most often all that is said.
  ApplyOptions(ApplyMode the_mode = ApplyMode::kApply, bool is_strict = false,
               bool is_pinning = false)
      : mode(the_mode), strict(is_strict), pin(is_pinning) {}

  ApplyMode mode;
  bool strict;
  // Instances that would stand in the way keep the version of their workflow that they began with;
  // new ones begin with the new version. Events, routes and workflows that go still stand in the
  // way.
  bool pin;
};

// An instance that does not move to the present version of its workflow.
struct StayingInstance {
  std::string workflow;
  Bytes key;  // canonical; empty if the workflow has none
  std::string why;
};

// What became of instances of earlier versions.
struct Migrated {
  std::uint64_t moved = 0;
  std::uint64_t stays = 0;
  std::vector<StayingInstance> staying = {};  // the first 1000
};

struct RehearseOptions {
  bool strict = false;  // these two as in ApplyOptions
  bool pin = false;
  bool migrate = false;  // also move the instances that would be pinned
  // How much it may take.
  std::uint64_t records = 1'000'000;             // that are replayed
  std::uint64_t bytes = std::uint64_t{1} << 30;  // of records and states that are read and made
  std::chrono::milliseconds time = std::chrono::seconds(60);
  std::function<bool()> stopped = {};  // asked now and then: nobody wants it any more
};

// An instance that does not do again what its records say it did.
struct DifferingInstance {
  std::string workflow;
  Bytes key;                 // canonical; empty if the workflow has none
  std::uint64_t record = 0;  // the first that came out differently
  std::string why;
};

// What would become of the instances under way.
struct Rehearsed {
  std::uint64_t at = 0;             // the copy is of the world after this record
  std::uint64_t instances = 0;      // that have not ended
  Applied applied = {};             // what applying would answer; its record is 0
  Migrated migrated = {};           // if that was asked for
  std::uint64_t replayed = 0;       // records
  std::string difference = {};      // the first record that came out differently; empty: none did
  std::uint64_t differs = 0;        // instances under way that replay differently
  std::uint64_t differs_ended = 0;  // the same of those that have ended
  std::vector<DifferingInstance> differing = {};  // of those under way, the first 100
  // The record that could not be replayed, and why: what differs only after it is not known. Empty:
  // every record was compared.
  std::string replay_stopped = {};

  // Nothing stands in the way, every record came out as it was, and every instance that should
  // move does.
  bool is_good() const noexcept {
    return applied.blocking_count == 0 && difference.empty() && migrated.stays == 0;
  }
};

// "added demo/Invoice@1; changed demo/Order@1", "nothing changed": one line for people.
std::string describe(const Applied& applied);

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
