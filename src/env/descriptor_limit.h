// SPDX-License-Identifier: Apache-2.0
// How many file descriptors this process may have open.
#pragma once

#include <cstdint>

namespace holdfast::env {

// The soft limit, which is the one that counts.
std::uint64_t descriptor_limit();

// Raises the soft limit to `wanted`, or to the hard limit if that is lower, and returns it. A limit
// that is higher already stays. For programs, not for libraries: the limit belongs to the process.
std::uint64_t raise_descriptor_limit(std::uint64_t wanted);

}  // namespace holdfast::env
