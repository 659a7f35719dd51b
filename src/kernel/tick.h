// SPDX-License-Identifier: Apache-2.0
// Tick: one input of a world. Whatever a step may know of the outside comes in with it. Ticks
// borrow their bytes from the caller; the reducer copies what it keeps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/limits.h"
#include "kernel/halt.h"
#include "kernel/mail.h"

namespace holdfast::kernel {

using Entropy = std::array<std::uint8_t, 16>;

// What becomes of an event that starts an instance whose key belongs to one that has ended.
enum class KeyReuse : std::uint8_t {
  kRefuse,
  kStartAgain,   // the ended instance is let go of, and its key begins again
  kReturnEnded,  // nothing happens: the answer is Repeated, with the last record of that instance
};

// An event. Its value was made canonical against its schema before it became a tick, and stands
// here without the self-describe tag; any other is refused.
struct EventArrived {
  std::string_view schema;
  base::ByteView value;
  std::string_view id;  // empty: none. Sent again with the same id, it gets the first answer again.

  // Empty: for everybody who subscribes. Else for one instance of this workflow, and nobody else.
  std::string_view workflow = {};
  base::ByteView key = {};  // canonical; empty if the workflow has no key
  bool starts = false;      // the instance must not be there yet

  base::ByteView trace = {};  // that it is part of (base/trace_context.h); empty: none

  KeyReuse reuse = KeyReuse::kRefuse;  // for one that starts
};

// Who says so: an Ed25519 key and what it signed receipt_message() with. Without bytes: nobody in
// particular; the node that writes the journal answers for it.
struct Signature {
  base::ByteView key;
  base::ByteView bytes;
};

// Whose word a report on a leased effect is: only that of the present dispatch counts. Without a
// worker it is the node's own word about that dispatch; without a dispatch (0) it is about an
// effect that nobody holds.
struct Fence {
  std::string_view worker;
  std::uint64_t dispatch = 0;
};

// The terminal result of an intent, as its executor gave it: the payload is checked here.
struct ReceiptArrived {
  base::Hash intent;
  ReceiptStatus status = ReceiptStatus::kOk;
  base::ByteView payload;  // CBOR
  std::optional<std::uint64_t> cost_cents;
  Signature signature;

  // Not 0: the payload had so many bytes, more than a value can have, and what stands there is its
  // SHA-256. So it is recorded, whichever way it came.
  std::uint64_t left_out = 0;

  Fence fence = {};

  bool is_too_large() const noexcept {
    return left_out != 0 || payload.size() > codec::kMaxValueBytes;
  }
  std::uint64_t payload_size() const noexcept { return left_out != 0 ? left_out : payload.size(); }
  base::Hash payload_hash() const;
};

// A sign of life of an open intent.
struct ProgressArrived {
  base::Hash intent;
  std::uint64_t sequence = 0;  // from 1
  std::string_view kind;
  base::ByteView payload;  // CBOR
  Fence fence = {};
};

// Goes on with mail that a tick before left undelivered.
struct Continue {};

enum class Control : std::uint8_t { kCancel, kPause, kResume };

// Somebody's word about one instance. `by`, here and below, is who asked, as far as it is known:
// the name of a token, or what the program says; empty: the program itself.
struct ControlRequested {
  Control control = Control::kCancel;
  std::string_view workflow;
  base::ByteView key;  // canonical; empty if the workflow has no key
  std::string_view reason;
  std::string_view by = {};
};

// Makes a manifest the world's own, if no instance that has not ended is touched by what changes.
struct ApplyManifest {
  base::ByteView definitions;  // CBOR: a list of definitions, the manifest among them
  std::string_view by = {};

  // Every instance must have ended. Not recorded: what is applied is the same.
  bool strict = false;

  // Instances that are touched keep the version of their workflow that they began with, where that
  // can be.
  bool pin = false;
};

// A manifest that somebody would like to have. The proposal is named by the record of this tick.
struct Propose {
  base::ByteView document;  // CBOR: a list of definitions, or a patch of the present manifest
  std::string_view description;
  std::string_view by = {};
};

// What a trial run of a proposal showed.
struct ReportShadow {
  std::uint64_t proposal = 0;
  base::ByteView report;  // CBOR
  std::string_view by = {};
};

struct Decide {
  std::uint64_t proposal = 0;
  bool approve = false;
  std::string_view by;
  std::string_view reason;
};

// Applies an approved proposal, as ApplyManifest does.
struct ApplyProposal {
  std::uint64_t proposal = 0;
  std::string_view by = {};
};

// Lets go of instances that have ended: their keys may begin again. It names them, each with the
// last record that touched it as far as whoever asks has seen (kernel/forget_list.h). One that is
// not there, has not ended, or was touched since is left alone.
struct ForgetEnded {
  base::ByteView instances;  // CBOR
};

// A worker makes itself known, or says anew what it is.
struct WorkerEnrolled {
  std::string_view worker;  // its id, which stays
  std::string_view node;
  std::string_view name;
  base::Hash secret;           // a hash of it
  base::ByteView description;  // CBOR, any value; empty: none
};

enum class WorkerChange : std::uint8_t { kActivate, kDrain, kCordon, kUncordon, kLose, kLeave };

// A verdict about a worker. One that is lost, or leaves, gives back what it holds: a part of it, if
// that is much, and the rest when the same is said again.
struct WorkerChanged {
  std::string_view worker;
  WorkerChange change = WorkerChange::kActivate;
  std::string_view reason;
  std::string_view by = {};
};

// Open effects are given to a worker (kernel/lease_list.h). What cannot be is left out, and is not
// in the record.
struct Leased {
  std::string_view worker;
  base::ByteView items;  // CBOR
};

// Leases end without a result, and the effects wait for a worker again (kernel/lease_list.h). What
// is held under another dispatch is left out, and is not in the record.
struct Returned {
  std::string_view worker;  // empty: whoever holds it
  base::ByteView items;     // CBOR
};

// An effect that workers perform is to be stopped. One that is held stays open until its worker has
// ended it.
struct StopAsked {
  base::Hash intent;
  std::string_view reason;
  std::string_view by = {};
};

// A source of events outside, such as the inbox of a database, has marked every event that the
// world took from it up to a record: it sends none of them again, unless it loses the mark. Ids of
// its events begin with its name and "/". The first of these ticks makes the source known (record
// 0: nothing is marked yet); from then on its ids are kept until they are marked, and for
// kEventIdWindowNs after that.
struct SourceMarked {
  std::string_view source;
  std::uint64_t record = 0;
};

// An instance that has failed or was cancelled begins again as it was once: with that state, that
// mail and those effects, which are opened anew (kernel/instance_image.h).
struct ReopenInstance {
  std::string_view workflow;
  base::ByteView key;      // canonical; empty if the workflow has no key
  base::ByteView image;    // CBOR
  std::uint64_t from = 0;  // the record that the image is of
  std::string_view reason;
  std::string_view by = {};
};

// Instances move from an earlier version of their workflow to the present one, with the state that
// its migration makes of theirs. They are named as in ForgetEnded. One that does not fit stays, and
// is not in the record.
struct MigrateInstances {
  base::ByteView instances;  // CBOR
  std::string_view by = {};
};

struct Tick {
  std::uint64_t time_ns = 0;
  Entropy entropy{};
  std::variant<EventArrived, ReceiptArrived, ProgressArrived, Continue, ControlRequested,
               ApplyManifest, Propose, ReportShadow, Decide, ApplyProposal, ForgetEnded,
               WorkerEnrolled, WorkerChanged, Leased, Returned, StopAsked, SourceMarked,
               ReopenInstance, MigrateInstances>
      input;

  // Of a tick that comes from a record: what was halted then. Only a replay heeds it.
  std::vector<Halt> halts = {};
};

}  // namespace holdfast::kernel
