// SPDX-License-Identifier: Apache-2.0
// The budgets of the reducer. Constants, not settings: replay must come to the same decisions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/limits.h"
#include "defs/name.h"

namespace holdfast::kernel {

// What one step may put out. Beyond it the instance fails and nothing of the step is kept.
inline constexpr std::size_t kMaxEffectsPerStep = 64;
inline constexpr std::size_t kMaxEventsPerStep = 256;
inline constexpr std::size_t kMaxAnnotationsPerStep = 32;
inline constexpr std::size_t kMaxStepOutputBytes = std::size_t{1} << 20;

// How many messages the events of one step become. One event goes to every subscription there can
// be; many of them do not, as everybody who gets one is named in the record.
inline constexpr std::size_t kMaxDeliveriesPerStep = 8192;
static_assert(kMaxDeliveriesPerStep >= defs::kMaxListed);

// How many messages one tick delivers. What is left goes on in a `continue` tick.
inline constexpr std::size_t kMaxDeliveriesPerTick = 1024;

// Instances that one tick may forget: as many as can be looked for without keeping others waiting.
inline constexpr std::size_t kMaxForgottenPerTick = 256;

// What a tick may have put into its record (Draft::weight) and still do another step; the rest
// waits for a `continue` tick. So a record passes it by one step at most, see kMaxRecordBytes.
inline constexpr std::size_t kMaxTickOutputBytes = std::size_t{8} << 20;

// The canonical key of an instance.
inline constexpr std::size_t kMaxKeyBytes = 1024;

// What a step calls one of its effects, to know it again or to tell it apart.
inline constexpr std::size_t kMaxReferenceBytes = 1024;

// A state up to this size stands in the record as it is, a larger one by its hash.
inline constexpr std::size_t kMaxStateBytesInRecord = 64;

// Parts that the state of one instance may have (StepOutput::begin_part).
inline constexpr std::size_t kMaxStateParts = 4096;

// Effects that one instance may have open at a time. One whose answer waits for the instance still
// counts, so answers, which are always admitted, cannot pile up without bound either.
inline constexpr std::size_t kMaxOpenIntents = std::size_t{1} << 14;

// Instances that may wait for each other in a row: one runs another, that runs a third, and so on.
inline constexpr std::size_t kMaxChildDepth = 64;

// Messages that may wait for one instance, and how much they may be together (Mail::weight): room
// for one value of any size, and then some. At the limit an event from outside is refused, and an
// instance that sends one waits with its step. A step that finds room may pass the limit with all
// that it sends. Results of effects need no room: each was asked for.
inline constexpr std::size_t kMaxMailPerInstance = 8192;
inline constexpr std::size_t kMaxMailBytesPerInstance = std::size_t{32} << 20;

// Where instances would wait for each other in a circle, or one for itself, they send beyond the
// limit instead, up to this. Then one that sends more than it takes fails.
inline constexpr std::size_t kMaxMailInCircle = 4 * kMaxMailPerInstance;
inline constexpr std::size_t kMaxMailBytesInCircle = 4 * kMaxMailBytesPerInstance;

// What may wait for instances that are ready, together: it is in memory. Beyond it nothing is
// admitted from outside but answers. What instances send each other has as much again; beyond that
// they wait with their steps.
inline constexpr std::size_t kMaxMailBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxMailBytesWithEmitted = 2 * kMaxMailBytes;

// What may wait for the others together: those that are paused, or wait for room. It moves to the
// disk.
inline constexpr std::size_t kMaxParkedMailBytes = std::size_t{64} << 30;

// The limit of messages before instances could wait for room. Records of that time are replayed by
// it (kRules2 in record.h).
inline constexpr std::size_t kMailPerInstanceBefore = 1024;

// How long the id of an event is remembered, by the times of ticks, and how many ids are at least:
// the window is the shorter of the two. An event that is sent again within it gets the first answer
// again; later it is a new event. Replay does not ask: what is recorded was accepted.
inline constexpr std::uint64_t kEventIdWindowNs = std::uint64_t{24} * 3600 * 1'000'000'000;
inline constexpr std::uint64_t kMostEventIds = std::uint64_t{4} << 20;

// Sources of events whose ids are kept apart (SourceMarked): so many, each with so many ids. Of one
// more, the source that marked longest ago is let go of.
inline constexpr std::size_t kMostEventSources = 16;
inline constexpr std::uint64_t kMostSourceIds = std::uint64_t{16} << 20;

// How many settled intents are remembered: the last ones, over the whole world. A receipt that
// comes again is answered as before; later its intent is unknown.
inline constexpr std::size_t kSettledWindow = std::size_t{1} << 16;

// What people write into ticks: names are short, reasons and descriptions a page.
inline constexpr std::size_t kMaxEventIdBytes = 255;
inline constexpr std::size_t kMaxProgressKindBytes = 255;
inline constexpr std::size_t kMaxReasonBytes = 4096;

// Proposals that are kept; for one more, the oldest that is decided is forgotten.
inline constexpr std::size_t kMaxProposals = 64;

// What a trial run may report.
inline constexpr std::size_t kMaxReportBytes = std::size_t{1} << 20;

// Blockers that are listed one by one; beyond that they are counted. No more than so many instances
// are looked at to find them: everybody else waits meanwhile.
inline constexpr std::size_t kMaxBlockersListed = 1000;
inline constexpr std::size_t kMaxLookedAtForBlockers = 16384;

// Workers that are known, the places that are cordoned, and what workers say of themselves: each of
// them, and all together. For one more, those that have been gone longest are forgotten.
inline constexpr std::size_t kMaxWorkers = std::size_t{1} << 16;
inline constexpr std::size_t kMaxWorkerNameBytes = 128;  // ids, nodes, names
inline constexpr std::size_t kMaxWorkerDescription = std::size_t{64} << 10;
inline constexpr std::size_t kMaxDescriptionBytes = std::size_t{64} << 20;

// What one tick leases or returns, and what one worker may hold.
inline constexpr std::size_t kMaxLeasesPerTick = 256;
inline constexpr std::size_t kMaxLeasesPerWorker = std::size_t{1} << 14;

// What stands in a lease and in an effect that was returned.
inline constexpr std::size_t kMaxLeaseDetailBytes = std::size_t{4} << 10;
inline constexpr std::size_t kMaxResumeBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxLostByListed = 8;

// What an instance is as a value that it can begin again from (kernel/instance_image.h). Its
// effects stand in the record a second time.
inline constexpr std::size_t kMaxImageBytes = std::size_t{6} << 20;

// Instances that one tick moves to another version.
inline constexpr std::size_t kMaxMigratedPerTick = kMaxForgottenPerTick;

// What things take in a record at most, besides the values and names that are counted one by one:
// an instance with its key and a small state, an event that was emitted, an intent that was opened
// or settled (and has a command). The error of an instance: a code and a message.
inline constexpr std::size_t kInstanceBytes =
    kMaxKeyBytes + defs::kMaxNameBytes + kMaxStateBytesInRecord + 80;
inline constexpr std::size_t kEmittedBytes = 8;
inline constexpr std::size_t kIntentBytes = 48;
inline constexpr std::size_t kErrorBytes = 2 * kMaxReasonBytes + 64;

// What comes in with a tick: one value, and texts; and what the record notes about it.
inline constexpr std::size_t kInputBytes = codec::kMaxValueBytes + (std::size_t{64} << 10);

// What one step adds at most: all of its budgets spent, everybody who gets its events or is run by
// its effects named, and its instance ended with all that it had open, for which another waited.
inline constexpr std::size_t kStepBytes =
    kMaxStepOutputBytes + kErrorBytes +
    (kMaxDeliveriesPerStep + kMaxEffectsPerStep + 2) * kInstanceBytes +
    kMaxEventsPerStep * kEmittedBytes +
    (kMaxOpenIntents + 2 * kMaxEffectsPerStep + 1) * kIntentBytes;

// What is there before the first step leaves budget for it: an event that goes to everybody, or an
// instance that ends with all that it had open.
static_assert(defs::kMaxListed * kInstanceBytes < kMaxTickOutputBytes);
static_assert(kMaxForgottenPerTick * kInstanceBytes < kMaxTickOutputBytes);
static_assert(kMaxLeasesPerTick * (kInstanceBytes + kErrorBytes + 2 * kIntentBytes) <
              kMaxTickOutputBytes);
static_assert(kMaxLeasesPerTick * (kMaxResumeBytes + kMaxLeaseDetailBytes + 64) <
              kInputBytes + kMaxTickOutputBytes);
static_assert(2 * kInstanceBytes + kErrorBytes + (kMaxOpenIntents + 1) * kIntentBytes <
              kMaxTickOutputBytes);

static_assert(kMaxImageBytes + 2 * kInstanceBytes + kMaxOpenIntents * kIntentBytes <
              kMaxTickOutputBytes);

// No record is larger. What holds records must take one of this size: a world whose record nobody
// takes could not go on, not even after a restart.
inline constexpr std::size_t kMaxRecordBytes = kInputBytes + kMaxTickOutputBytes + kStepBytes;

}  // namespace holdfast::kernel
