// SPDX-License-Identifier: Apache-2.0
// EffectBlobs: the blobs that workflows put and get, as executors see them. From any thread.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace holdfast::executors {

class EffectBlobs {
 public:
  virtual ~EffectBlobs() = default;

  // Exactly the bytes that were put: an implementation verifies what it reads.
  virtual base::Result<base::Bytes> get(const base::Hash& hash) = 0;

  // Durable after the next sync() that succeeds. When that fails, everything since the one before
  // may be gone.
  virtual base::Result<base::Hash> put(base::ByteView bytes) = 0;
  virtual base::Result<void> sync() = 0;
};

}  // namespace holdfast::executors
