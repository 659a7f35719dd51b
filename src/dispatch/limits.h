// SPDX-License-Identifier: Apache-2.0
// Bounds of the dispatcher and of what workers may offer. docs/worker-protocol.md has those that a
// worker sees.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::dispatch {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;

// What a worker offers.
inline constexpr std::size_t kMaxOfferNameBytes = 128;
inline constexpr std::size_t kMaxOfferTextBytes = 256;
inline constexpr std::size_t kMaxQueues = 64;
inline constexpr std::size_t kMaxTypes = 256;
inline constexpr std::size_t kMaxOfferLabels = 64;
inline constexpr std::size_t kMaxRecipes = 64;
inline constexpr std::uint32_t kMaxSlots = 65'536;
inline constexpr std::size_t kMaxOfferDevices = 64;
inline constexpr std::uint32_t kMaxDeviceIndex = 4095;

// Workers that are compared for one placement, and demands that one call of `choose` looks at. What
// is left is looked at by the next call, which begins behind it.
inline constexpr std::size_t kMostCandidates = 64;
inline constexpr std::size_t kMostLooks = 1024;

// Demands with a recipe that one plan of swaps looks at. The others wait until some of these have a
// worker.
inline constexpr std::size_t kMostSwapDemands = 256;

// Demands that no task has any more, kept because the next task may ask for the same.
inline constexpr std::size_t kMostUnusedLines = 256;

// Workers that an explanation names one by one; the rest is counted.
inline constexpr std::size_t kMostExplained = 32;

}  // namespace holdfast::dispatch
