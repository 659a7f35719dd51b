// SPDX-License-Identifier: Apache-2.0
// State: everything a run of a step workflow is at one moment, and nothing of how it came there.
// It holds what is live only, so that a run of any length costs the same.
//
// Values and texts are borrowed: from the bytes that the state was read from, from the tick, or
// from the state's own arena. Whoever keeps a state keeps those.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/machine.h"
#include "steps/arena.h"
#include "steps/graph.h"

namespace holdfast::steps {

// A canonical value and its type. A list: the value is a list of such values, made by a fan-in; for
// a step with slots, of one of each, and the type is that of the first.
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

struct Failure {
  std::string_view code;
  std::string_view message;
};

// One event that one step has to deal with, until it has.
struct Attempt {
  Event event;
  std::uint64_t item = 0;           // the same over all attempts and waits; 0: not numbered yet
  std::uint64_t stream = 0;         // the innermost fan-out that it is part of; 0: none
  std::uint32_t failures = 0;       // so far
  std::uint64_t first_ns = 0;       // when the first attempt began; 0, without failures: none has
  std::uint64_t not_before_ns = 0;  // a delayed retry; 0: at once
  Lineage lineage;
  // How it failed last; nothing: it has not, or the rules of the graph are older.
  std::optional<Failure> last = std::nullopt;
  // Its body has published, and no entry since tells that it runs again. False under older rules.
  bool has_published = false;
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

// How an instance of another workflow ended.
enum class ChildFate : std::uint8_t { kCompleted, kFailed, kCancelled };
struct ChildEnd {
  ChildFate fate = ChildFate::kCompleted;
  base::ByteView result;  // kCompleted
  Failure failure;        // else
};

// An instance of another workflow that a step has run, and waits for.
struct Child {
  std::uint64_t number = 0;  // of its effect; counted with the runs of steps
  std::string_view workflow;
  base::ByteView key;       // canonical; empty: the workflow has none
  std::string_view schema;  // of what starts it; this and the value until it has been asked for
  base::ByteView value;
  bool is_issued = false;
  std::optional<ChildEnd> end;
};

// A step that waits for an event from outside, or for the end of a child; its event runs again when
// that has come.
struct Waiter {
  std::string_view id;  // one of its item's
  TypeIndex type = 0;
  std::vector<Requirement> requirements;
  Attempt trigger;
  std::uint64_t let_out = 0;      // events and entries of its body that have gone out by now
  std::uint64_t deadline_ns = 0;  // 0: none, or over
  bool is_timed_out = false;
  std::optional<Event> resolved;
  std::optional<Child> child = std::nullopt;  // then the type and requirements mean nothing

  bool is_open() const noexcept {
    return !is_timed_out && !resolved && !(child && child->end.has_value());
  }
};

// An event that has come to one of the slots of a step, and waits for those of the others.
struct Held {
  Event event;
  std::uint64_t stream = 0;  // it is for others of the same fan-out only
  Lineage lineage;
};

// Attempts or events that stand beside the state (steps/parts.h), so that a long queue is not
// written anew with every turn.
struct Part {
  base::Hash hash;
  std::uint64_t count = 0;
  std::uint64_t weight = 0;  // of them together
};

struct StepState {
  std::vector<Attempt> queue;
  std::vector<Part> later;       // behind the queue; none of them is delayed
  std::vector<Attempt> last;     // behind those; none if there are no parts
  std::vector<Running> running;  // by slot
  std::vector<Buffer> buffers;   // by name
  std::vector<Waiter> waiters;   // in the order they came
  std::vector<Held> held;        // in the order they came
};

// What one joining step has of a fan-out.
struct JoinState {
  StepIndex step = 0;
  bool has_fired = false;
  std::vector<Part> earlier;  // members before the others
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

// An event that nobody takes as yet: a wait that begins while the run is busy may be for it.
struct Early {
  Event event;
  std::optional<StepIndex> target;  // that it was sent to
};

// An attempt that failed; the last few of a run are kept for whoever asks how it went.
struct PastFailure {
  StepIndex step = 0;
  std::uint64_t item = 0;
  std::uint64_t attempt = 0;
  std::uint64_t at_ns = 0;
  Failure failure;
};
inline constexpr std::size_t kMaxPastFailures = 8;

struct State {
  explicit State(std::size_t step_count) : steps(step_count) {}

  bool is_running = false;
  std::uint64_t deadline_ns = 0;  // of the run; 0: none
  std::uint64_t last_item = 0;
  std::uint64_t last_run = 0;
  std::uint64_t last_stream = 0;
  std::uint64_t last_change = 0;  // of a buffer or the store
  std::vector<StepState> steps;
  std::vector<Stream> streams;        // by id
  std::vector<StoreEntry> store;      // by key
  std::vector<Early> early;           // in the order they came; none if nobody goes on by itself
  std::vector<PastFailure> failures;  // the oldest first
  Arena arena;

  // Where parts are read. A state without parts needs none.
  const kernel::StateParts* parts = nullptr;

  // As if it were new.
  void clear();

  Stream* find_stream(std::uint64_t id);

  // Whether somebody waits for the result of this run of a step.
  bool is_running_now(std::uint64_t run) const;

  // Running, and nothing left to do but wait for the outside.
  bool is_idle() const;

  // Whether a body may come to its next wait without an event from outside: it has something to do,
  // or waits for a child, or not for ever.
  bool goes_on_by_itself() const;

  // Drops what only runs of long ago could have seen otherwise.
  void forget_changes();
};

}  // namespace holdfast::steps
