// SPDX-License-Identifier: Apache-2.0
// Command: one thing that a tick asks for. Their order is part of what the reducer promises.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "steps/tick.h"

namespace holdfast::steps {

// What becomes of the run's stream: for people, and for whoever follows.
enum class EntryKind : std::uint8_t {
  kEvent,       // a value that a step put out, or asks somebody with
  kPreparing,   // of a step: waits for a slot
  kRunning,     // has one
  kNotRunning,  // has left it
  kUnhandled,   // an event that nobody takes; without one: a piece that could not be read
  kIdle,
  kStopped,  // the four ends
  kCancelled,
  kTimedOut,
  kFailed,
  kAttemptFailed,  // of a step; what becomes of it follows
  kBeganAgain,     // a body that has published and runs again: the same pieces may come again
};

struct Entry {
  EntryKind kind = EntryKind::kEvent;
  std::optional<StepIndex> step = std::nullopt;
  std::uint32_t slot = 0;
  std::uint64_t item = 0;
  std::optional<TypeIndex> input = std::nullopt;   // kPreparing, kRunning, kNotRunning
  std::optional<TypeIndex> output = std::nullopt;  // kNotRunning: what the body returned
  std::optional<Event> event = std::nullopt;
  bool is_idle = false;                // kUnhandled: nothing else was under way
  Failure failure = {};                // kFailed, kAttemptFailed; kBeganAgain, kUnhandled: why;
                                       // kCancelled: the message says why
  std::uint64_t attempts = 0;          // kFailed, kAttemptFailed
  std::uint64_t elapsed_ns = 0;        // likewise; kTimedOut: how long it was allowed
  std::uint64_t due_ns = 0;            // kAttemptFailed: when the next begins; 0: never
  std::vector<StepIndex> active = {};  // kTimedOut: steps that were running
};

struct RunStep {
  StepIndex step = 0;
  std::uint32_t slot = 0;
  std::uint64_t run = 0;
};
struct QueueEvent {
  AddEvent event;
};
struct PublishEntry {
  Entry entry;
};
struct CompleteRun {
  std::optional<Event> result;  // nothing: it is only let go of, and goes on when something comes
};
enum class HaltKind : std::uint8_t { kCancelled, kTimedOut };

// The codes of runs that ended so.
inline constexpr std::string_view kRunCancelled = "steps.cancelled";
inline constexpr std::string_view kRunTimedOut = "steps.timed_out";
struct HaltRun {
  HaltKind kind = HaltKind::kCancelled;
  std::string_view message;
};
struct FailRun {
  Failure failure;
};
struct ScheduleWaiterTimeout {
  StepIndex step = 0;
  std::uint64_t item = 0;
  std::string_view id;
  std::uint64_t at_ns = 0;
};
struct StopRun {  // of a step: nobody waits for it any more
  std::uint64_t run = 0;
};
struct StopChild {  // nobody waits for it any more
  std::string_view workflow;
  base::ByteView key;
};
struct ScheduleIdleCheck {};
struct ScheduleWakeUp {
  std::uint64_t at_ns = 0;
};

using Command =
    std::variant<RunStep, QueueEvent, PublishEntry, CompleteRun, HaltRun, FailRun,
                 ScheduleWaiterTimeout, ScheduleIdleCheck, ScheduleWakeUp, StopChild, StopRun>;

}  // namespace holdfast::steps
