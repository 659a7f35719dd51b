// SPDX-License-Identifier: Apache-2.0
// Record: one journal entry: a tick and what came of it. Canonical CBOR lists, so that equal bytes
// mean equal happenings, and the journal can be read without the code. Byte format:
// docs/formats/record.md. Written by the reducer; read with kernel/record_view.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::kernel {

inline constexpr std::uint64_t kRecordVersion = 1;

// In the order of the alternatives of Tick::input; the numbers are part of the format.
enum class TickKind : std::uint8_t {
  kEvent = 0,
  kReceipt = 1,
  kProgress = 2,
  kContinue = 3,
  kControl = 4,
  kApply = 5,
  kPropose = 6,
  kShadow = 7,
  kDecide = 8,
  kApplyProposal = 9,
  kForget = 10,
  kWorkerEnrolled = 11,
  kWorkerChanged = 12,
  kLeased = 13,
  kReturned = 14,
  kStopAsked = 15,
  kSourceMarked = 16,
  kReopen = 17,
  kMigrate = 18,
};
inline constexpr TickKind kLastTickKind = TickKind::kMigrate;

// The note of a record that came out otherwise than programs before would have had it: mail waited
// for room, or passed a limit that failed its sender once; an error says more. It comes last. A
// record without it is replayed by the rules of before.
inline constexpr std::string_view kRules2 = "rules.2";

// The same, and a state has parts (StepOutput::begin_part): it stands in the record by the hash of
// what names them. Instead of the other.
inline constexpr std::string_view kRules3 = "rules.3";

// The same as both, and a circle of more than Waiting::kMostInARow instances was found, in which
// programs before would have waited for ever.
inline constexpr std::string_view kRules4 = "rules.4";
// The second detail of the note "manifest.applied": instances that it does not touch were under
// way. Records of before do not have it.
inline constexpr std::string_view kAppliedBesideWork = "beside work";

// As people read it: "event", "apply proposal".
std::string_view name_of(TickKind kind) noexcept;

}  // namespace holdfast::kernel
