// SPDX-License-Identifier: Apache-2.0
// EffectBlobs: the blobs that workflows put and get, as executors see them. From any thread.
#pragma once

#include <span>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace holdfast::executors {

class EffectBlobs {
 public:
  virtual ~EffectBlobs() = default;

  // Exactly the bytes that were put: an implementation verifies what it reads.
  virtual base::Result<base::Bytes> get(const base::Hash& hash) = 0;

  // Durable when it returns, all of them; on an error none of them may be counted on. What others
  // keep at the same time neither helps nor harms: a put is never left for somebody else's sync.
  // They are found by their SHA-256.
  virtual base::Result<void> keep(std::span<const base::ByteView> blobs) = 0;
  base::Result<void> keep(base::ByteView blob) { return keep(std::span(&blob, 1)); }
};

}  // namespace holdfast::executors
