// SPDX-License-Identifier: Apache-2.0
// WorldEffectBlobs: what workflows put and get, in a file of the world of its own: the executors
// that use it have their own threads, and wait for the disk, and the world must not wait for them
// when it reads a blob of its own. Nothing is collected there.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "executors/effect_blobs.h"
#include "store/blob_store.h"

namespace holdfast::node {

class WorldEffectBlobs : public executors::EffectBlobs {
 public:
  // The world must outlive it.
  static base::Result<std::unique_ptr<WorldEffectBlobs>> open(store::WorldFolder& world) {
    auto store = TRY(store::BlobStore::open(world, store::kEffectBlobs));
    return std::unique_ptr<WorldEffectBlobs>(new WorldEffectBlobs(std::move(store)));
  }

  base::Result<base::Bytes> get(const base::Hash& hash) override {
    const std::lock_guard lock(mutex_);
    return store_->get(hash);
  }
  using EffectBlobs::keep;
  base::Result<void> keep(std::span<const base::ByteView> blobs) override {
    const std::lock_guard lock(mutex_);
    // A transaction of their own: when it fails, nothing of it is left for the next caller.
    return store_->transact([&]() -> base::Result<void> {
      for (const base::ByteView blob : blobs) TRY(store_->put(blob));
      return {};
    });
  }

  // For whoever copies them: keeps all others waiting.
  template <class Work>
  auto with_database(Work&& work) {
    const std::lock_guard lock(mutex_);
    return work(store_->database());
  }

 private:
  explicit WorldEffectBlobs(std::unique_ptr<store::BlobStore> store) : store_(std::move(store)) {}

  std::mutex mutex_;
  std::unique_ptr<store::BlobStore> store_;
};

}  // namespace holdfast::node
