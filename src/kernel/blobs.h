// SPDX-License-Identifier: Apache-2.0
// Blobs: bytes by their hash. The kernel names what it keeps outside memory; the store keeps it.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace holdfast::kernel {

// What any implementation takes as one blob. The kernel never puts more.
inline constexpr std::size_t kMaxBlobBytes = std::size_t{64} << 20;

// kUnavailable of a put: there is no room for it now. What was put before is there, and the same
// may be tried again.
class Blobs {
 public:
  virtual ~Blobs() = default;

  // Exactly the bytes that were put: an implementation verifies what it reads.
  virtual base::Result<base::Bytes> get(const base::Hash& hash) const = 0;

  // Putting the same bytes again changes nothing.
  virtual base::Result<base::Hash> put(base::ByteView bytes) = 0;
};

}  // namespace holdfast::kernel
