// SPDX-License-Identifier: Apache-2.0
// Reads what a child has written, as far as it is there.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "env/system_error.h"

namespace holdfast::work {

// At most about `most` bytes, so that one child that writes without end does not keep the loop.
// False: nothing will come any more.
template <class Take>
bool read_available(int from, std::size_t most, Take take) {
  std::array<char, 16384> piece;
  while (most > 0) {
    const auto got =
        env::again_after_signals([&] { return ::read(from, piece.data(), piece.size()); });
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    take(std::string_view(piece.data(), static_cast<std::size_t>(got)));
    most -= std::min(most, static_cast<std::size_t>(got));
  }
  return true;
}

// In one turn of the loop, and of one that has ended: no more than a pipe holds.
inline constexpr std::size_t kReadOfTurn = std::size_t{256} << 10;
inline constexpr std::size_t kReadOfEnded = std::size_t{1} << 20;

}  // namespace holdfast::work
