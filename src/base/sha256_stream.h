// SPDX-License-Identifier: Apache-2.0
// Sha256Stream: the SHA-256 of bytes that come in pieces, such as a file that is not held in
// memory.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/hash.h"

namespace holdfast::base {

class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void add(ByteView bytes) noexcept;

  // Of all that was added. To be called once.
  Hash finish() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::base
