// SPDX-License-Identifier: Apache-2.0
#include "node/effect_blobs.h"

#include <map>
#include <vector>

#include "base/sha256.h"

namespace holdfast::node {

// Who needs blobs besides what the world keeps. It has a mutex of its own, which nobody holds for
// long: pins go on the thread that makes batches durable.
class WorldEffectBlobs::Claims {
 public:
  void pin(const std::vector<base::Hash>& blobs) {
    const std::lock_guard lock(mutex_);
    for (const base::Hash& blob : blobs) ++pins_[blob];
  }
  void unpin(const std::vector<base::Hash>& blobs) {
    const std::lock_guard lock(mutex_);
    for (const base::Hash& blob : blobs) {
      const auto found = pins_.find(blob);
      if (--found->second == 0) pins_.erase(found);
    }
  }
  std::vector<base::Hash> pinned() const {
    const std::lock_guard lock(mutex_);
    std::vector<base::Hash> blobs;
    for (const auto& [blob, count] : pins_) blobs.push_back(blob);
    return blobs;
  }

  void hold() { ++holds_; }
  void let_go() { --holds_; }
  bool is_held() const noexcept { return holds_ != 0; }

 private:
  mutable std::mutex mutex_;
  std::map<base::Hash, std::uint64_t> pins_;
  std::atomic<std::uint64_t> holds_ = 0;
};

WorldEffectBlobs::WorldEffectBlobs(std::unique_ptr<store::BlobStore> store)
    : claims_(std::make_shared<Claims>()), store_(std::move(store)) {}

WorldEffectBlobs::~WorldEffectBlobs() = default;

base::Result<std::unique_ptr<WorldEffectBlobs>> WorldEffectBlobs::open(store::WorldFolder& world) {
  auto store = TRY(store::BlobStore::open(world, store::kEffectBlobs));
  return std::unique_ptr<WorldEffectBlobs>(new WorldEffectBlobs(std::move(store)));
}

base::Result<base::Bytes> WorldEffectBlobs::get(const base::Hash& hash) {
  const std::lock_guard lock(mutex_);
  return store_->get(hash);
}

base::Result<executors::BlobPin> WorldEffectBlobs::keep(std::span<const base::ByteView> blobs) {
  std::vector<base::Hash> hashes;
  std::uint64_t bytes = 0;
  for (const base::ByteView blob : blobs) {
    hashes.push_back(base::sha256(blob));
    bytes += blob.size();
  }
  const std::lock_guard lock(mutex_);
  // A transaction of their own: when it fails, nothing of it is left for the next caller.
  TRY(store_->transact([&]() -> base::Result<void> {
    for (const base::ByteView blob : blobs) TRY(store_->put(blob));
    return {};
  }));
  written_bytes_ += bytes;
  // Before the next collection can begin.
  claims_->pin(hashes);
  return executors::BlobPin(claims_.get(), [claims = claims_, hashes = std::move(hashes)](
                                               const void*) { claims->unpin(hashes); });
}

std::shared_ptr<const void> WorldEffectBlobs::hold() {
  const std::lock_guard lock(mutex_);
  claims_->hold();
  collection_.reset();
  return {claims_.get(), [claims = claims_](const void*) { claims->let_go(); }};
}

base::Result<bool> WorldEffectBlobs::begin_collection() {
  const std::lock_guard lock(mutex_);
  if (claims_->is_held()) return false;
  collection_.reset();
  collection_ = TRY(store::EffectGc::begin(*store_, claims_->pinned()));
  return true;
}

void WorldEffectBlobs::end_collection() {
  const std::lock_guard lock(mutex_);
  collection_.reset();
}

base::Result<std::uint64_t> WorldEffectBlobs::file_bytes() {
  const std::lock_guard lock(mutex_);
  return store_->file_bytes();
}

}  // namespace holdfast::node
