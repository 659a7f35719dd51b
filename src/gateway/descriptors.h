// SPDX-License-Identifier: Apache-2.0
// How many connections a server may have, given how many files its process may open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace holdfast::gateway {

// What the engine beside the server may need at once: the journal and its readers, four databases
// with their logs, 64 requests with their sockets and name lookups, 16 programs with their pipes,
// what the process was started with, and room for what handlers open.
inline constexpr std::uint64_t kEngineDescriptors = 320;

// Where there are few, the engine has half of them.
inline std::size_t connections_within(std::uint64_t descriptors, std::size_t wanted) {
  const std::uint64_t kept = std::min(kEngineDescriptors, descriptors / 2);
  return static_cast<std::size_t>(std::min<std::uint64_t>(descriptors - kept, wanted));
}

}  // namespace holdfast::gateway
