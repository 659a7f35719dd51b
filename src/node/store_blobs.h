// SPDX-License-Identifier: Apache-2.0
// StoreBlobs: the kernel's blobs in the store of a world. What is put waits in memory until it is
// written, which a snapshot does: a disk that is full then loses nothing that the world believes to
// be there, and it can be tried again later. Bounded: when too much waits, putting writes it first,
// or finds no room. So that it does not come to that, another thread may write what waits ahead of
// a snapshot (write_waiting).
//
// The world reads and puts on its own thread while what was begun is written on another. What is
// put meanwhile waits, though it be the same again: a collection of blobs spares what a snapshot
// names and what was put since the last one was listed, so nothing that is for the next one may
// come into the store before that.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "base/kept_hash.h"
#include "kernel/blobs.h"
#include "store/blob_store.h"

namespace holdfast::node {

static_assert(store::kMaxBlobBytes >= kernel::kMaxBlobBytes);

class StoreBlobs : public kernel::Blobs {
 public:
  static constexpr std::size_t kMostWaitingBytes = std::size_t{128} << 20;

  static constexpr std::size_t kMuchWaitingBytes = std::size_t{8} << 20;

  // The store must outlive it.
  explicit StoreBlobs(store::BlobStore& store, std::size_t most_waiting_bytes = kMostWaitingBytes,
                      std::size_t much_waiting_bytes = kMuchWaitingBytes)
      : store_(store),
        most_waiting_bytes_(most_waiting_bytes),
        much_waiting_bytes_(much_waiting_bytes) {}

  base::Result<base::Bytes> get(const base::Hash& hash) const override;
  base::Result<base::Hash> put(base::ByteView bytes) override;

  // What waits now is what the next finish_writing writes. To be called again if that failed.
  void begin_writing();

  // From any thread: makes durable what was begun, and then does the rest with the store.
  // kUnavailable: there is no room; it waits again. After any other error the store has ended.
  base::Result<void> finish_writing(const std::function<base::Result<void>()>& rest);

  // So much waits that it should be written; or so much that no more should be put before it was.
  bool has_much() const;
  bool is_crowded() const;

  // Makes durable what waits now. From any thread, but not between begin_writing and the end of
  // finish_writing. Errors as of finish_writing.
  base::Result<void> write_waiting();

  // From any thread: what else is to be done with the store, which keeps the world's thread waiting
  // if it wants to read.
  template <class Work>
  auto with_store(Work&& work) {
    let_readers_in();
    const std::lock_guard lock(storing_);
    return work();
  }

  // So many bytes were written since it was made. From any thread.
  std::uint64_t written_bytes() const;

 private:
  void let_readers_in() const;
  base::Result<void> write_begun(const std::function<base::Result<void>()>& rest);

  store::BlobStore& store_;
  const std::size_t most_waiting_bytes_;
  const std::size_t much_waiting_bytes_;
  mutable std::mutex storing_;                      // the store
  mutable std::atomic<std::uint32_t> reading_ = 0;  // who waits for it to read from it
  mutable std::mutex mutex_;                        // what follows; inside the other
  using ByHash = std::unordered_map<base::Hash, base::Bytes, base::KeptHash<base::HashOfHash>>;
  ByHash waiting_;
  ByHash begun_;  // changed only by begin_writing and finish_writing, which do not overlap
  bool has_begun_ = false;  // and has not finished
  std::size_t waiting_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace holdfast::node
