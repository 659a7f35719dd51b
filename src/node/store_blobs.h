// SPDX-License-Identifier: Apache-2.0
// StoreBlobs: the kernel's blobs in the store of a world. Puts are durable when the store is
// synced, which taking a snapshot does.
#pragma once

#include "kernel/blobs.h"
#include "store/blob_store.h"

namespace holdfast::node {

static_assert(store::kMaxBlobBytes >= kernel::kMaxBlobBytes);

class StoreBlobs : public kernel::Blobs {
 public:
  // The store must outlive it.
  explicit StoreBlobs(store::BlobStore& store) : store_(store) {}

  base::Result<base::Bytes> get(const base::Hash& hash) const override { return store_.get(hash); }
  base::Result<base::Hash> put(base::ByteView bytes) override { return store_.put(bytes); }

 private:
  store::BlobStore& store_;
};

}  // namespace holdfast::node
