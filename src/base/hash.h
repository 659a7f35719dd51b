// SPDX-License-Identifier: Apache-2.0
// Hash: the SHA-256 of something, used as its name. Computed by base/sha256.h.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace holdfast::base {

struct Hash {
  std::array<std::uint8_t, 32> bytes{};

  // "sha256:" and 64 lower-case hex digits, the only text that parse accepts.
  std::string to_text() const;
  static Result<Hash> parse(std::string_view text);

  // All zero stands for "no hash": nobody knows bytes that hash to it.
  bool is_zero() const noexcept { return *this == Hash{}; }

  // Bytewise.
  friend auto operator<=>(const Hash&, const Hash&) = default;
};

// For unordered containers. Keyed with a random number of this process, so that nobody can choose
// inputs that all meet in one bucket. The order of iteration therefore differs from run to run and
// must never reach a result: look things up, but do not walk over them.
struct HashOfHash {
  std::size_t operator()(const Hash& hash) const noexcept;
};

// The same for texts that come from outside.
struct HashOfText {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept;
};

}  // namespace holdfast::base
