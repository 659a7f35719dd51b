// SPDX-License-Identifier: Apache-2.0
// SHA-256 by OpenSSL.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"

namespace holdfast::base {

Hash sha256(ByteView bytes) noexcept;

// For input that comes in pieces. After finish() it is as new.
class Sha256 {
 public:
  Sha256() noexcept;

  void update(ByteView bytes) noexcept;
  Hash finish() noexcept;

 private:
  alignas(8) unsigned char storage_[128];  // OpenSSL's context, so that its headers stay out of ours
};

}  // namespace holdfast::base
