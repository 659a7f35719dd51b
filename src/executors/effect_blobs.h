// SPDX-License-Identifier: Apache-2.0
// EffectBlobs: the blobs that workflows put and get, as executors see them. From any thread.
#pragma once

#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace holdfast::executors {

// While it is there, the blobs that it stands for are not collected. An executor hands it over with
// the receipt that names them: only a receipt that is durable keeps them by itself.
using BlobPin = std::shared_ptr<const void>;

class EffectBlobs {
 public:
  virtual ~EffectBlobs() = default;

  // Exactly the bytes that were put: an implementation verifies what it reads.
  virtual base::Result<base::Bytes> get(const base::Hash& hash) = 0;

  // Durable when it returns, all of them; on an error none of them may be counted on. What others
  // keep at the same time neither helps nor harms: a put is never left for somebody else's sync.
  // They are found by their SHA-256.
  virtual base::Result<BlobPin> keep(std::span<const base::ByteView> blobs) = 0;
  base::Result<BlobPin> keep(base::ByteView blob) { return keep(std::span(&blob, 1)); }
};

}  // namespace holdfast::executors
