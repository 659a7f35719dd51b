// SPDX-License-Identifier: Apache-2.0
// Amounts as people write them: memory (256Mi, 24GB, or a number of bytes), processors (2, 0.5,
// 500m) and durations (90s, 1h30m). A text that is not one gives nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "codec/view.h"

namespace holdfast::tasks {

// Bytes. Units: k M G T P and Ki Mi Gi Ti Pi, each with or without a B; at most three decimals, and
// the amount must be a whole number of bytes.
std::optional<std::uint64_t> memory_of(codec::View value);

// Thousandths of a processor.
std::optional<std::uint64_t> cpu_milli_of(codec::View value);

// A whole number from 0, as a number or as text.
std::optional<std::uint64_t> count_of(codec::View value);

// Nanoseconds: more than none, at most 366 days. Only text, since a number has no unit.
std::optional<std::uint64_t> duration_ns_of(codec::View value);

}  // namespace holdfast::tasks
