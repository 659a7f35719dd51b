// SPDX-License-Identifier: Apache-2.0
// Tick: one thing that happens to a run. All that a step's body did comes as one tick, when it is
// over.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "steps/state.h"

namespace holdfast::steps {

// An event: from outside, or out of a step.
struct AddEvent {
  Event event;
  std::optional<StepIndex> target = std::nullopt;  // only for this step
  std::uint64_t stream = 0;                        // that it came out of, and keeps open
  Lineage lineage = {};
};

// What a step's body did, in the order it did it.
struct Returned {  // nothing: the body returned no event
  std::optional<Event> event;
};
struct ReturnedList {  // fans out
  std::vector<Event> events;
};
struct Failed {
  Failure failure;
  bool is_judged = false;                 // whoever ran it has asked its retry policy
  std::optional<std::uint64_t> retry_ns;  // judged: try again after so long; nothing: do not
};
struct AddCollected {
  std::string_view buffer;
  Event event;
};
struct DeleteCollected {
  std::string_view buffer;
};
struct SawCollected {  // decided by it, and left it as it is
  std::string_view buffer;
};
struct StartChild {
  std::string_view workflow;
  base::ByteView key;
  std::string_view schema;
  base::ByteView value;
};
struct AddWaiter {
  std::string_view id;
  TypeIndex type = 0;
  std::vector<Requirement> requirements;
  std::uint64_t timeout_ns = 0;                    // 0: none
  std::optional<Event> asks;                       // published when the wait begins
  std::optional<StartChild> child = std::nullopt;  // it waits for the end of this one
};
struct Sent {
  Event event;
  std::optional<StepIndex> target;
};
struct Streamed {
  Event event;
};
struct StoreEdit {
  std::string_view key;
  base::ByteView value;           // empty: erases it
  bool is_transactional = false;  // only if nobody has changed it since the body saw it
};
struct CancelStep {
  StepIndex step = 0;
  bool stops = true;  // bodies of it that run are told; no result of an earlier program says so
};
struct CancelRun {
  std::string_view reason;
};
using Did = std::variant<Returned, ReturnedList, Failed, AddCollected, DeleteCollected, AddWaiter,
                         Sent, Streamed, StoreEdit, CancelStep, CancelRun, SawCollected>;

// A run of a step is over. One that failed, or that has begun to wait, leaves nothing else behind:
// its body will run again.
struct StepResult {
  std::uint64_t run = 0;
  std::vector<Did> did;
};

struct Timeout {};  // of the run

struct WaiterTimeout {
  StepIndex step = 0;
  std::uint64_t item = 0;
  std::string_view id;
};

// A child has ended.
struct ChildEnded {
  std::uint64_t number = 0;
  ChildEnd end;
};

struct Publish {
  std::optional<Event> event;  // nothing: it could not be read
  std::uint64_t run = 0;       // of the step that puts it out
  Failure refused = {};        // without an event: why
};

// A run of a step was lost while it ran, and began again.
struct BeganAgain {
  std::uint64_t run = 0;
};

struct IdleCheck {};
struct IdleRelease {};

// Everything that came of a tick is reduced, and nobody is left who could come to a wait by itself
// for what came early.
struct TellEarly {};

// It is so late. Which attempts may go on is decided by this and never by a clock.
struct WakeUp {
  std::uint64_t due_ns = 0;
};

using Tick = std::variant<AddEvent, StepResult, CancelRun, Timeout, WaiterTimeout, Publish,
                          IdleCheck, IdleRelease, WakeUp, ChildEnded, TellEarly, BeganAgain>;

}  // namespace holdfast::steps
