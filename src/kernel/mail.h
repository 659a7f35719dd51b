// SPDX-License-Identifier: Apache-2.0
// Mail: one message to one instance: an event, or what came back from an effect that it opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/limits.h"

namespace holdfast::kernel {

// The codes of a receipt whose payload does not fit, and of one whose payload is too large for a
// value.
inline constexpr std::string_view kInvalidPayload = "receipt.invalid_payload";
inline constexpr std::string_view kPayloadTooLarge = "receipt.too_large";

// The first detail of the refusal of a receipt whose signature is not good.
inline constexpr std::string_view kBadSignature = "receipt.bad_signature";

// The codes of effects that run an instance (kernel/children.cc). One that has failed answers with
// the code that it failed with.
inline constexpr std::string_view kUnknownWorkflow = "workflow.unknown";
inline constexpr std::string_view kKeyTaken = "workflow.key_taken";
inline constexpr std::string_view kBadStart = "workflow.bad_start";
inline constexpr std::string_view kNoRoomToRun = "workflow.no_room";
inline constexpr std::string_view kTooDeep = "workflow.too_deep";
inline constexpr std::string_view kWorkflowCancelled = "workflow.cancelled";
inline constexpr std::string_view kWorkflowDeleted = "workflow.deleted";

// The code of an effect that its instance has given up (StepOutput::stop_effects).
inline constexpr std::string_view kGivenUp = "effect.given_up";

// Why an effect that was asked to stop (kStopped in work.h) has ended at once.
inline constexpr std::string_view kNobodyHeldIt = "it was stopped before a worker held it";

enum class ReceiptStatus : std::uint8_t { kOk, kError, kTimeout, kCancelled };

std::string_view name_of(ReceiptStatus status) noexcept;
std::optional<ReceiptStatus> receipt_status_named(std::string_view name) noexcept;

// What a receipt or a progress frame says of the intent it answers.
struct Origin {
  base::Hash intent;
  std::string effect;
  std::string issuer_ref;
  std::uint64_t opened_at = 0;  // the record that opened it
  std::string worker = {};      // that held it when it ended; empty: none
  std::uint64_t losses = 0;     // leases of it that were lost
  // Of what the effect was asked for. Only for workflows that declare their context: no others can
  // see the envelope, whose hash is part of it.
  std::optional<base::Hash> params_hash = {};

  friend bool operator==(const Origin&, const Origin&) = default;
};

// A message's value up to this size stands inside the index of cells, a larger one is a blob; the
// same holds for states, results and errors.
inline constexpr std::size_t kInlineValueBytes = 1024;

enum class MailKind : std::uint8_t {
  kEvent,
  kReceipt,   // the terminal result of an intent
  kRejected,  // a terminal result whose payload did not fit; the intent is settled all the same
  kProgress,
};

// A value that is in a blob and nowhere else.
struct PutAway {
  base::Hash blob;
  std::uint64_t size = 0;
};

struct Mail {
  MailKind kind = MailKind::kEvent;
  std::string schema;  // kEvent: the schema of the value
  // Canonical, without the self-describe tag: the event, the payload, a sys/EffectError@1. What was
  // rejected is not kept: then it is empty.
  base::Bytes value;
  std::optional<PutAway> away;                // the value, while it is only in its blob
  Origin origin;                              // all but kEvent
  ReceiptStatus status = ReceiptStatus::kOk;  // kReceipt, kRejected
  std::uint64_t sequence = 0;                 // kProgress
  std::string note;                           // kRejected: why; kProgress: its kind
  std::optional<std::uint64_t> cost_cents;    // kReceipt
  base::Bytes signature;                      // kReceipt
  base::Hash payload_hash;                    // kRejected: of the payload as it came
  std::uint64_t payload_size = 0;             // kRejected

  // What it counts for where mail is bounded by bytes: its own, and what a message takes besides.
  std::size_t weight() const noexcept {
    const std::size_t put_away = away ? static_cast<std::size_t>(away->size) : 0;
    return kBesides + value.size() + put_away + origin.issuer_ref.size() + note.size();
  }
  static constexpr std::size_t kBesides = 256;

  // What putting its value away would free.
  std::size_t spillable() const noexcept {
    return value.size() > kInlineValueBytes ? value.size() : 0;
  }

  // kRejected: which of the two codes.
  std::string_view fault() const noexcept {
    return payload_size > codec::kMaxValueBytes ? kPayloadTooLarge : kInvalidPayload;
  }

  // As new, but with the room that its texts have.
  void clear();
};

}  // namespace holdfast::kernel
