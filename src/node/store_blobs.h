// SPDX-License-Identifier: Apache-2.0
// StoreBlobs: the kernel's blobs in the store of a world. What is put waits in memory until it is
// made durable, which taking a snapshot does: a disk that is full then loses nothing that the world
// believes to be there, and it can be tried again later. Bounded: when too much waits, putting
// makes it durable first, or fails.
//
// For one thread, the one of the store.
#pragma once

#include <map>

#include "kernel/blobs.h"
#include "store/blob_store.h"

namespace holdfast::node {

static_assert(store::kMaxBlobBytes >= kernel::kMaxBlobBytes);

class StoreBlobs : public kernel::Blobs {
 public:
  static constexpr std::size_t kMostWaitingBytes = std::size_t{128} << 20;

  // The store must outlive it.
  explicit StoreBlobs(store::BlobStore& store, std::size_t most_waiting_bytes = kMostWaitingBytes)
      : store_(store), most_waiting_bytes_(most_waiting_bytes) {}

  base::Result<base::Bytes> get(const base::Hash& hash) const override;
  base::Result<base::Hash> put(base::ByteView bytes) override;

  // kUnavailable: there is no room; everything is as before. After any other error the store has
  // ended.
  base::Result<void> make_durable();

 private:
  store::BlobStore& store_;
  const std::size_t most_waiting_bytes_;
  std::map<base::Hash, base::Bytes> waiting_;  // in order, so that a simulation repeats itself
  std::size_t waiting_bytes_ = 0;
};

}  // namespace holdfast::node
