// SPDX-License-Identifier: Apache-2.0
// State: everything a run of a step workflow is at one moment, and nothing of how it came there.
// It holds what is live only, so that a run of any length costs the same.
//
// Values and texts are borrowed: from the bytes that the state was read from, from the tick, or
// from the state's own arena. Whoever keeps a state keeps those.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "steps/graph.h"

namespace holdfast::steps {

// A canonical value and its type. A list: the value is a list of such values, made by a fan-in.
struct Event {
  TypeIndex type = 0;
  bool is_list = false;
  base::ByteView value;
};

// How often an error handler has helped on the way that led here.
struct Recovery {
  StepIndex handler = 0;
  std::uint32_t count = 0;
};
using Lineage = std::vector<Recovery>;

// One event that one step has to deal with, until it has.
struct Attempt {
  Event event;
  std::uint64_t item = 0;           // the same over all attempts and waits; 0: not numbered yet
  std::uint64_t stream = 0;         // the innermost fan-out that it is part of; 0: none
  std::uint32_t failures = 0;       // so far
  std::uint64_t first_ns = 0;       // when the first attempt began; 0: none has
  std::uint64_t not_before_ns = 0;  // a delayed retry; 0: at once
  Lineage lineage;
};

struct Failure {
  std::string_view code;
  std::string_view message;
};

// A step that is being run. `run` tells its result from those of runs that nobody waits for any
// more. What it has seen of buffers and store is that of change `seen`.
struct Running {
  Attempt attempt;
  std::uint32_t slot = 0;
  std::uint64_t run = 0;
  std::uint64_t seen = 0;
  bool is_issued = false;  // it has been asked for
  // Set: the last run ended without a verdict (it took too long, say), and this one only asks
  // whether to try again.
  std::optional<Failure> unjudged;
};

// What a step has put aside. One that is empty is kept as long as a run may have seen it otherwise.
struct Buffer {
  std::string_view name;
  std::uint64_t changed = 0;
  std::vector<Event> events;
};

struct Requirement {
  std::string_view field;  // dotted
  base::ByteView value;
};

// A step that waits for an event from outside; its event runs again when that has come.
struct Waiter {
  std::string_view id;  // one of its item's
  TypeIndex type = 0;
  std::vector<Requirement> requirements;
  Attempt trigger;
  std::uint64_t let_out = 0;      // events and entries of its body that have gone out by now
  std::uint64_t deadline_ns = 0;  // 0: none, or over
  bool is_timed_out = false;
  std::optional<Event> resolved;

  bool is_open() const noexcept { return !is_timed_out && !resolved; }
};

struct StepState {
  std::vector<Attempt> queue;
  std::vector<Running> running;  // by slot
  std::vector<Buffer> buffers;   // by name
  std::vector<Waiter> waiters;   // in the order they came
};

// What one joining step has of a fan-out.
struct JoinState {
  StepIndex step = 0;
  bool has_fired = false;
  std::vector<Event> members;
  Lineage lineage;  // what handlers did for its members, the most of each
};

// An open fan-out. It closes when nothing of it is open any more: attempts, waits, fan-outs inside.
struct Stream {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t open = 0;
  Lineage lineage;
  std::vector<JoinState> joins;
};

// Of the run's own store. Without a value: erased, and kept as an empty buffer is.
struct StoreEntry {
  std::string_view key;
  std::uint64_t changed = 0;
  base::ByteView value;
};

// Values that nobody else holds.
class Arena {
 public:
  base::ByteView keep(base::Bytes bytes) { return kept_.emplace_back(std::move(bytes)); }
  std::string_view keep(std::string_view text) {
    return base::as_text(kept_.emplace_back(text.begin(), text.end()));
  }

 private:
  std::deque<base::Bytes> kept_;
};

struct State {
  explicit State(std::size_t step_count) : steps(step_count) {}

  bool is_running = false;
  std::uint64_t deadline_ns = 0;  // of the run; 0: none
  std::uint64_t last_item = 0;
  std::uint64_t last_run = 0;
  std::uint64_t last_stream = 0;
  std::uint64_t last_change = 0;  // of a buffer or the store
  std::vector<StepState> steps;
  std::vector<Stream> streams;    // by id
  std::vector<StoreEntry> store;  // by key
  Arena arena;

  Stream* find_stream(std::uint64_t id);

  // Whether somebody waits for the result of this run of a step.
  bool is_running_now(std::uint64_t run) const;

  // Running, and nothing left to do but wait for the outside.
  bool is_idle() const;

  // Drops what only runs of long ago could have seen otherwise.
  void forget_changes();
};

}  // namespace holdfast::steps
