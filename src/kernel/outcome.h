// SPDX-License-Identifier: Apache-2.0
// Outcome: what one tick did: a record for the journal, commands to perform once the record is
// durable, and an answer for whoever sent it. A refusal changes nothing and leaves no record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "kernel/cell.h"
#include "kernel/mail.h"
#include "kernel/work.h"
#include "kernel/workers.h"

namespace holdfast::kernel {

struct EffectProgram;   // kernel/program.h
struct ManifestChange;  // kernel/manifest_change.h

// Make sure that this effect is started. The intent is the idempotency key.
struct OpenIntent {
  base::Hash intent;
  std::shared_ptr<const EffectProgram> effect;  // keeps its whole program
  std::string_view workflow;                    // that asks; of the same program
  base::ByteView key;
  base::ByteView params;                        // canonical, without the self-describe tag
  std::shared_ptr<const std::uint8_t[]> bytes;  // that key and params are part of
  std::uint64_t opened_ns = 0;                  // the time of the tick that opened it
  base::ByteView trace = {};                    // of the instance; part of `bytes`; empty: none
  std::uint64_t last_progress = 0;              // the number of the last frame that came of it
};

// Nobody waits for this effect any more; stop it if that can be done.
struct StopIntent {
  base::Hash intent;
  std::shared_ptr<const EffectProgram> effect;
};

// Mail is left over: send a Continue tick.
struct ContinueSoon {};

// Something has changed that matters to those who place work on workers.
struct WorkNews {
  enum class Kind : std::uint8_t { kWorker, kLeased, kReturned, kStopAsked, kEnded };
  Kind kind = Kind::kWorker;

  // All but kWorker: the effect. kEnded: its intent and effect only.
  OpenIntent open = {};
  std::shared_ptr<const Work> work = {};  // as it is now; null: it was never leased, or has ended

  std::string worker = {};     // kWorker: its id; kReturned, kEnded: that held it, empty: none
  std::uint64_t dispatch = 0;  // kReturned, kEnded: under this one, 0: none
  ReturnReason reason = ReturnReason::kDrain;  // kReturned
  ReceiptStatus status = ReceiptStatus::kOk;   // kEnded
  bool by_worker = false;                      // kEnded: its worker has said so
  std::optional<Worker> now = {};              // kWorker
  bool is_cordoned = false;                    // kWorker
};

using Command = std::variant<OpenIntent, StopIntent, ContinueSoon, std::shared_ptr<const WorkNews>>;

// What became of one effect that a tick names.
struct WorkVerdict {
  enum class Kind : std::uint8_t {
    kGranted,    // Leased
    kNotOpen,    // Leased: it is not open
    kHeld,       // Leased: under this dispatch, already
    kNotLeased,  // Leased: workers do not perform it
    kReturned,   // Returned, WorkerChanged: it waits again
    kSettled,    // the same: it ended instead
    kStale,      // Returned and reports: under another dispatch, or not held
  };
  Kind kind = Kind::kStale;
  std::uint64_t dispatch = 0;
};

// What became of instances that were to move to the present version of their workflow. Those that
// are in neither list have ended, are gone, or have moved before.
struct Migration {
  std::uint64_t moved = 0;
  struct Stays {
    std::string workflow;
    base::Bytes key;
    std::string why;
  };
  std::vector<Stays> stays;
};

// The most instances that are named of those that did not take an event.
inline constexpr std::size_t kMostUntaken = 8;

// An instance that an event was for, and that did not take it.
struct Untaken {
  enum class Why : std::uint8_t {
    kNone,    // there was none, and the event did not begin it
    kEnded,   // it had ended
    kStrange  // it goes on in an earlier version of its workflow, which does not know the event
  };
  std::string workflow;
  base::Bytes key;
  Why why = Why::kNone;
  std::optional<Status> ended = {};  // kEnded: how, if that is still known
};

struct Accepted {
  std::uint64_t record = 0;
  std::uint32_t deliveries = 0;                         // instances that got the event
  std::uint32_t ignored = 0;                            // instances that had ended already
  bool unrouted = false;                                // nobody subscribes to the event
  std::optional<ReceiptStatus> settled = std::nullopt;  // a receipt: how the effect ended
  std::vector<WorkVerdict> verdicts = {};               // in the order of what the tick names
  std::uint64_t leases_left = 0;                        // WorkerChanged: that it still holds
  // Of the deliveries: to instances that were not there, and that the event did not begin.
  std::uint32_t unhandled = 0;
  // Of an event that no instance took: for whom it was, up to kMostUntaken of them.
  std::vector<Untaken> untaken = {};
  std::shared_ptr<const ManifestChange> change = {};  // of a manifest that was applied
  std::shared_ptr<const Migration> migration = {};    // MigrateInstances
};

// It is so already, or nothing of it counts: nothing happened, and there is no record. So it is
// with a manifest that the world has, and with instances none of which could be moved.
struct Unchanged {
  std::vector<WorkVerdict> verdicts = {};
  std::shared_ptr<const Migration> migration = {};
};

// The same was accepted before; nothing happened now.
struct Repeated {
  std::uint64_t record = 0;
  std::optional<ReceiptStatus> settled = std::nullopt;  // how the intent was settled

  // Of an event: as it was answered first.
  std::uint32_t deliveries = 0;
  std::uint32_t ignored = 0;
  bool unrouted = false;
  std::uint32_t unhandled = 0;
  std::vector<Untaken> untaken = {};
};

struct Refused {
  Refused() = default;
  Refused(base::ErrorCode the_code, std::string the_message)
      : code(the_code), message(std::move(the_message)) {}

  base::ErrorCode code = base::ErrorCode::kInvalid;
  std::string message;
  // Definitions: everything that is wrong, with its place. A receipt: kBadSignature, and whose.
  std::vector<std::string> details;
};

// An instance that has not ended, and so stands in the way of another manifest.
struct Blocker {
  std::string workflow;
  base::Bytes key;
  Status status = Status::kRunning;
  bool paused = false;
  std::vector<base::Hash> intents;  // in flight
  std::uint64_t mail = 0;           // messages that wait for it

  friend bool operator==(const Blocker&, const Blocker&) = default;
};

// The instances of a workflow that stand in the way, and what of its definition changes.
struct BlockedWorkflow {
  std::string workflow;
  std::uint64_t count = 0;
  std::vector<std::string> because;  // up to 16: names of definitions, and routes; empty: strict
};

// A manifest cannot be applied while instances are under way that it touches.
struct Blocked {
  std::vector<Blocker> blockers;  // up to 1000 of them, by workflow; fewer where most have ended
  std::uint64_t count = 0;        // of all
  std::vector<BlockedWorkflow> workflows = {};
};

// An instance by its name, which borrows from the world, until the next tick.
struct TouchedName {
  std::string_view workflow;
  base::ByteView key;
};

using Answer = std::variant<Accepted, Repeated, Refused, Blocked, Unchanged>;

struct Outcome {
  // What the world is kept in could not be read or written. Nothing of this world may be used any
  // more; opening it again from the journal is safe.
  std::optional<base::Error> failure;

  base::Bytes record;  // empty: the tick left no trace
  std::vector<Command> commands;
  std::vector<TouchedName> ended;  // touched, and at an end, now or before; or deleted
  std::vector<TouchedName> said;   // their steps put out annotations
  Answer answer;
};

}  // namespace holdfast::kernel
