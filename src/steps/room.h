// SPDX-License-Identifier: Apache-2.0
// Room: how much a run may keep, and put out at once. A world has to hold it in its records; a run
// outside of one is held to the same, so that what ends there ends here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "kernel/limits.h"
#include "steps/broker.h"
#include "steps/weight.h"

namespace holdfast::steps {

// Of a step of the kernel, but for what stands around the values: names, heads, timers.
inline constexpr std::size_t kReservedBytes = std::size_t{32} << 10;
inline constexpr std::size_t kOutputBytes = kernel::kMaxStepOutputBytes - kReservedBytes;

// The rest of a step's bytes is for what goes out.
static_assert(kMaxLiveBytes < kOutputBytes);

// What an event may leave live in a run that has steps running. Beyond it the event waits in the
// mailbox until one of them has ended: what they return may need the rest.
inline constexpr std::size_t kMaxLiveBytesWithEvents = kMaxLiveBytes / 4 * 3;

// All of it but the entries.
std::size_t weight(const Outbox& outbox);

// Of an entry that is so many bytes.
constexpr std::size_t weight_of_entry(std::size_t bytes) { return bytes + kNumberBytes; }

// Why a run whose state, outbox and entries weigh so much has to end; or, if it ends now, cannot
// end so. A result stands in its entry, too, and both go out at once.
std::optional<Failure> too_large(std::size_t bytes, const std::optional<Ending>& ending);

// Why a run of this size is too large, in words for people: the limit counts bytes, and they count
// events.
std::string describe_size(const Graph& graph, const State& state, std::size_t bytes);

// For the params of a run of a step, when nothing else is in the way.
constexpr std::size_t room_for_params(std::size_t taken) {
  return taken < kOutputBytes ? kOutputBytes - taken : 0;
}
// Why a run ends that has a step which fits in no such room.
Failure too_large_to_run(const Graph& graph, StepIndex step, Arena& arena);

}  // namespace holdfast::steps
