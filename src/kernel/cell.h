// SPDX-License-Identifier: Apache-2.0
// Cell: one instance of a workflow, as the world keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/intent_order.h"
#include "kernel/mailbox.h"

namespace holdfast::kernel {

// Whether an instance waits (has open intents) or runs is seen from its intents.
enum class Phase : std::uint8_t { kActive, kCompleted, kFailed, kCancelled };

enum class Status : std::uint8_t { kRunning, kWaiting, kCompleted, kFailed, kCancelled };

std::string_view name_of(Status status) noexcept;

// The effect that an instance was started for; it settles when the instance ends.
struct RunBy {
  base::Hash intent;
  std::uint32_t depth = 1;  // so many instances wait for each other, down to this one
};

// A part of a state, see StepOutput::begin_part.
struct StatePart {
  base::Hash hash;
  base::Bytes bytes;  // empty while it is only in its blob
};

struct Cell {
  std::uint32_t workflow = 0;
  base::Hash id;    // of the key: its name in the index
  base::Bytes key;  // canonical; empty if the workflow has no key
  Phase phase = Phase::kActive;
  bool paused = false;
  bool has_state = false;
  base::Bytes
      state;  // canonical, without the self-describe tag; empty while it is only in its blob
  std::optional<base::Hash> state_blob;  // where a large state is kept
  std::vector<StatePart> parts;          // of the state, as its last step had them
  base::Bytes outcome;  // of an ended instance: the result, or a sys/EffectError@1; empty while it
                        // is only in its blob
  std::optional<base::Hash> outcome_blob;  // where a large outcome is kept
  IntentOrder intents;                     // the open ones
  std::uint64_t last_record = 0;           // 0: none
  std::uint64_t last_active_ns = 0;
  base::Bytes trace;            // of the event that began it (base/trace_context.h); empty: none
  std::optional<RunBy> run_by;  // nothing: nobody waits for its end, or it has ended
  bool doomed = false;          // its next turn cancels it, also if it is paused

  // What the world knows of it while it is in memory:
  std::optional<base::Hash> state_hash;  // as a value that stands alone, if it was asked for
  bool indexed = false;                  // the index has it, as it was once
  bool dirty = false;                    // changed since the index knows it
  bool state_known = false;              // what is in the blob was looked at before
  std::size_t spillable = 0;             // what it counts for in Cells::bytes_with
  std::size_t part_bytes = 0;            // of the parts that are here
  Cell* newer = nullptr;                 // its place in the order of use, see cell_order.h
  Cell* older = nullptr;
  Cell* turn_after = nullptr;  // its place among those that are ready
  Cell* turn_before = nullptr;
  Mailbox mail;
  bool ready = false;         // has a place among those that are ready
  std::uint32_t touched = 0;  // its place in the draft of the present record, plus 1

  bool terminal() const noexcept { return phase != Phase::kActive; }
  Status status() const noexcept {
    switch (phase) {
      case Phase::kCompleted: return Status::kCompleted;
      case Phase::kFailed: return Status::kFailed;
      case Phase::kCancelled: return Status::kCancelled;
      case Phase::kActive: break;
    }
    return intents.empty() ? Status::kRunning : Status::kWaiting;
  }
};

}  // namespace holdfast::kernel
