// SPDX-License-Identifier: Apache-2.0
// Chunks: a long list of small entries, kept as blobs of bounded size, so that a snapshot stays
// small however long the list is. The same entries give the same chunks.
#pragma once

#include <functional>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "kernel/blobs.h"

namespace holdfast::kernel {

class ChunkWriter {
 public:
  explicit ChunkWriter(Blobs& blobs) : blobs_(blobs) {}

  // Where the next entry, one canonical item, is to be written; then tell.
  codec::Buffer& entry() noexcept { return entries_; }
  base::Result<void> entry_done();

  // Writes the list of chunks.
  base::Result<void> finish(codec::Buffer& out);

 private:
  base::Result<void> put();

  Blobs& blobs_;
  codec::Buffer entries_;
  std::uint64_t entry_count_ = 0;
  codec::Buffer hashes_;
  std::uint64_t chunk_count_ = 0;
};

// The blobs of a list of chunks, in order.
base::Result<std::vector<base::Hash>> chunk_hashes(codec::View chunks);

// Every entry of one chunk, in order. The visitor says whether the entry was good.
base::Result<void> visit_chunk(base::ByteView chunk,
                               const std::function<bool(codec::View)>& visitor);

// Every entry of a list of chunks, in order. The visitor says whether the entry was good.
base::Result<void> visit_chunks(const Blobs& blobs, codec::View chunks,
                                const std::function<bool(codec::View)>& visitor);

}  // namespace holdfast::kernel
