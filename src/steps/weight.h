// SPDX-License-Identifier: Apache-2.0
// How many bytes the parts of a state take at most, when they are written. A bound and not a
// measure: it costs no writing.
#pragma once

#include <cstddef>

#include "steps/state.h"

namespace holdfast::steps {

// What stands around a part: numbers, heads, names of fields. More than any of them has.
inline constexpr std::size_t kBesides = 512;

inline constexpr std::size_t kNumberBytes = 9;

std::size_t weight(const Event& event);
std::size_t weight(const Attempt& attempt);
std::size_t weight(const Running& running);
std::size_t weight(const Buffer& buffer);
std::size_t weight(const Waiter& waiter);
std::size_t weight(const StoreEntry& entry);
std::size_t weight(const State& state);

}  // namespace holdfast::steps
