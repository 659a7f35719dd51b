// SPDX-License-Identifier: Apache-2.0
// Collector: when the blobs that nobody needs are removed: after so much was written that a good
// part of the file may be such, so that it costs a part of what writing costs, and the file stays
// within a few times of what is needed.
#pragma once

#include <cstdint>
#include <memory>

#include "node/store_blobs.h"
#include "store/blob_gc.h"

namespace holdfast::node {

class Collector {
 public:
  // A file of less is left alone.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 20;

  // All of them must outlive it; `blobs` is in front of `store`.
  Collector(StoreBlobs& blobs, store::BlobStore& store, store::Snapshots& snapshots,
            std::uint64_t least_bytes = kLeastBytes)
      : blobs_(blobs), store_(store), snapshots_(snapshots), least_bytes_(least_bytes) {}

  // Does a piece of it, if it is time for that. True: there is more to do. On an error nothing that
  // is needed was removed, and it begins again when it is asked again. From one thread, which need
  // not be the world's.
  base::Result<bool> go_on();

  // It is time when it is asked next, however little was written.
  void ask() noexcept { is_asked_ = true; }

  // How many it has removed. From the same thread.
  std::uint64_t removed() const noexcept { return removed_; }

 private:
  base::Result<bool> is_due();

  StoreBlobs& blobs_;
  store::BlobStore& store_;
  store::Snapshots& snapshots_;
  const std::uint64_t least_bytes_;
  std::unique_ptr<store::BlobGc> running_;
  bool is_asked_ = false;
  bool has_run_ = false;  // since the world was opened; what was written before is not known
  std::uint64_t removed_ = 0;
  std::uint64_t written_then_ = 0;    // when the one that runs began
  std::uint64_t written_before_ = 0;  // when the last one that ended did
};

}  // namespace holdfast::node
