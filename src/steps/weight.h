// SPDX-License-Identifier: Apache-2.0
// How many bytes the parts of a state take at most, when they are written. A bound and not a
// measure: it costs no writing.
#pragma once

#include <cstddef>
#include <string_view>

#include "steps/state.h"

namespace holdfast::steps {

// What stands around a part: numbers, heads, names of fields. More than any of them has.
inline constexpr std::size_t kBesides = 512;

inline constexpr std::size_t kNumberBytes = 9;

// What may be live in a run.
inline constexpr std::size_t kMaxLiveBytes = std::size_t{896} << 10;
inline constexpr std::string_view kStateTooLargeCode = "steps.state_too_large";
inline constexpr std::string_view kStateTooLarge =
    "what is live in the run, and what it puts out at once, is more than 896 KiB";

std::size_t weight(const Event& event);
std::size_t weight(const Attempt& attempt);
std::size_t weight(const Running& running);
std::size_t weight(const Buffer& buffer);
std::size_t weight(const Waiter& waiter);
std::size_t weight(const StoreEntry& entry);
std::size_t weight(const State& state);

}  // namespace holdfast::steps
