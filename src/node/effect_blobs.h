// SPDX-License-Identifier: Apache-2.0
// WorldEffectBlobs: what workflows put and get, in a file of the world of its own: the executors
// that use it have their own threads, and wait for the disk, and the world must not wait for them
// when it reads a blob of its own.
//
// It also keeps what a collection (store/effect_gc.h) cannot see: which blobs were put for receipts
// that are not durable yet, and whether somebody copies the blobs. From any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "executors/effect_blobs.h"
#include "store/blob_store.h"
#include "store/effect_gc.h"

namespace holdfast::node {

class WorldEffectBlobs : public executors::EffectBlobs {
 public:
  // The world must outlive it.
  static base::Result<std::unique_ptr<WorldEffectBlobs>> open(store::WorldFolder& world);
  ~WorldEffectBlobs() override;

  base::Result<base::Bytes> get(const base::Hash& hash) override;
  using EffectBlobs::keep;
  base::Result<executors::BlobPin> keep(std::span<const base::ByteView> blobs) override;

  // For whoever copies them: keeps all others waiting.
  template <class Work>
  auto with_database(Work&& work) {
    const std::lock_guard lock(mutex_);
    return work(store_->database());
  }

  // While it is there, no blob is removed: a collection that runs is given up, and none begins. For
  // whoever copies the world in parts.
  std::shared_ptr<const void> hold();

  // Begins a collection. False: somebody holds the blobs.
  base::Result<bool> begin_collection();

  // Does something with the collection that runs. kConflict: there is none any more.
  template <class Work>
  auto with_collection(Work&& work) -> decltype(work(std::declval<store::EffectGc&>())) {
    const std::lock_guard lock(mutex_);
    if (!collection_) return base::Error(base::ErrorCode::kConflict, "the collection was given up");
    return work(*collection_);
  }
  void end_collection();

  base::Result<std::uint64_t> file_bytes();

  // So many bytes were put since it was opened.
  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  class Claims;
  explicit WorldEffectBlobs(std::unique_ptr<store::BlobStore> store);

  const std::shared_ptr<Claims> claims_;  // shared with those who have pins
  std::atomic<std::uint64_t> written_bytes_ = 0;
  std::mutex mutex_;
  std::unique_ptr<store::BlobStore> store_;
  std::unique_ptr<store::EffectGc> collection_;
};

}  // namespace holdfast::node
