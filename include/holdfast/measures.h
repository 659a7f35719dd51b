// SPDX-License-Identifier: Apache-2.0
// What an engine says of itself, for those who look after it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/histogram.h"

namespace holdfast {

// What an engine has made durable since it was opened, and how its history stands.
struct Figures {
  std::uint64_t records = 0;
  std::uint64_t syncs = 0;
  std::uint64_t journal_bytes = 0;
  std::uint64_t waiting_inputs = 0;    // now
  std::uint64_t history_lag = 0;       // durable records that the index has not seen
  std::uint64_t history_failures = 0;  // of the index, since the engine was opened
  bool history_is_well = true;         // the last thing that was tried went well
};

// Effects of one kind that are open.
struct OpenEffects {
  std::string effect;
  std::string executor;
  std::uint64_t count = 0;
  std::uint64_t oldest_age_ns = 0;  // to about a second
};

// Inputs that were refused, by why.
struct Refusals {
  std::string code;
  std::uint64_t count = 0;
};

// Effects, and bodies of steps, that failed since the engine was opened.
struct FailedCount {
  std::string workflow;
  std::string status;  // error, timeout, cancelled; of the body of a step: failed
  std::string code;    // `other`: there were too many
  std::uint64_t count = 0;
};

// The same, and what the world says of itself.
struct Measures {
  Figures figures;
  std::uint64_t next_record = 0;
  std::uint64_t open_effects = 0;
  std::uint64_t refused = 0;
  std::uint64_t repeated_events = 0;
  std::uint64_t repeated_receipts = 0;
  std::uint64_t repeated_progress = 0;
  std::uint64_t bad_signatures = 0;
  std::uint64_t stale_reports = 0;  // of workers, about dispatches that had ended
  std::uint64_t workers = 0;        // that are known, be they gone
  std::uint64_t leases = 0;
  std::uint64_t forgotten_event_ids = 0;  // within 24 hours, as there were too many

  Histogram sync_ns{kTimeBounds};  // what it took to make a batch durable
  Histogram batch_records{kCountBounds};
  std::vector<OpenEffects> open_by_effect;
  std::vector<Refusals> refusals;
  std::vector<FailedCount> failed;
  std::vector<FailedCount> failed_instances;  // the same of instances
  std::uint64_t waiting_results = 0;          // of effects, to be reduced
  std::uint64_t recovery_ns = 0;              // what opening took, until everything was under way
  std::uint64_t replayed_records = 0;         // then
  std::uint64_t behind_snapshot = 0;  // records that would be replayed if it were opened now
  std::uint64_t replay_ns = 0;        // what replaying them would take, about
  std::uint64_t replay_bound_ns = 0;  // what it may take
  std::uint64_t history_seen = 0;     // the record that the index has come to
  std::uint64_t handler_threads = 0;  // that run handlers and bodies of steps
  std::uint64_t busy_handler_threads = 0;
  std::int64_t clock_ahead_ns = 0;  // of the wall clock; below nothing: behind it
};

// Where the world is kept.
struct DiskUse {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t journal_bytes = 0;  // of the files of the journal
  std::uint64_t other_bytes = 0;    // of all others: blobs, the index
};

}  // namespace holdfast
