// SPDX-License-Identifier: Apache-2.0
// The budgets of the reducer. Constants, not settings: replay must come to the same decisions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::kernel {

// What one step may put out. Beyond it the instance fails and nothing of the step is kept.
inline constexpr std::size_t kMaxEffectsPerStep = 64;
inline constexpr std::size_t kMaxEventsPerStep = 256;
inline constexpr std::size_t kMaxStepOutputBytes = std::size_t{1} << 20;

// How many messages one tick delivers. What is left goes on in a `continue` tick.
inline constexpr std::size_t kMaxDeliveriesPerTick = 1024;

// Messages that may wait for one instance.
inline constexpr std::size_t kMaxMailPerInstance = 1024;

// How many event ids, and how many settled intents, are remembered. A repetition within the window
// gets the first answer again; later it is a new event, or an unknown intent.
inline constexpr std::size_t kEventIdWindow = std::size_t{1} << 16;
inline constexpr std::size_t kSettledWindow = std::size_t{1} << 16;

inline constexpr std::size_t kMaxEventIdBytes = 255;

}  // namespace holdfast::kernel
