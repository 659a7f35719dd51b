// SPDX-License-Identifier: Apache-2.0
// SHA-256 by OpenSSL.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/hash.h"

namespace holdfast::base {

// Of the bytes, with `rest` behind them.
Hash sha256(ByteView bytes, ByteView rest = {}) noexcept;

// An input that begins with whole blocks of 64 bytes which many inputs share: they are hashed once.
class Sha256Prefix {
 public:
  explicit Sha256Prefix(ByteView blocks) noexcept;

  // The hash of those blocks with `rest` behind them.
  Hash finish(ByteView rest) const noexcept;

  // The same for two inputs, which can cost less than one after the other.
  static void finish_both(const Sha256Prefix& a, ByteView rest_of_a, Hash& of_a,
                          const Sha256Prefix& b, ByteView rest_of_b, Hash& of_b) noexcept;

 private:
  std::uint32_t state_[8];
  std::uint64_t size_;
};

}  // namespace holdfast::base
