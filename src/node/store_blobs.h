// SPDX-License-Identifier: Apache-2.0
// StoreBlobs: the kernel's blobs in the store of a world. What is put waits in memory until it is
// written, which a snapshot does: a disk that is full then loses nothing that the world believes to
// be there, and it can be tried again later. Bounded: when too much waits, putting writes it first,
// or fails.
//
// The world reads and puts on its own thread while a snapshot may be written on another. While it
// is, nothing else is: what a collection of blobs spares is what was put since the last snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

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

  // What waits now.
  using Blob = std::pair<base::Hash, std::shared_ptr<const base::Bytes>>;
  std::vector<Blob> waiting() const;

  // From any thread: makes these durable, so that they wait no longer, and then does the rest with
  // the store. kUnavailable: there is no room; everything is as before. After any other error the
  // store has ended.
  base::Result<void> write(const std::vector<Blob>& blobs,
                           const std::function<base::Result<void>()>& rest);

  // From any thread: what else is to be done with the store, which keeps the world's thread waiting
  // if it wants to read.
  template <class Work>
  auto with_store(Work&& work) {
    const std::lock_guard lock(storing_);
    return work();
  }

  // So many bytes were written since it was made. From any thread.
  std::uint64_t written_bytes() const;

 private:
  store::BlobStore& store_;
  const std::size_t most_waiting_bytes_;
  std::mutex writing_;          // held from the first blob of a snapshot until it is listed
  mutable std::mutex storing_;  // the store; inside `writing_`
  mutable std::mutex mutex_;    // what follows; inside all others
  std::map<base::Hash, std::shared_ptr<const base::Bytes>> waiting_;  // in order, so that a
                                                                      // simulation repeats itself
  std::size_t waiting_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace holdfast::node
