// SPDX-License-Identifier: Apache-2.0
// Blobs in memory, that can be damaged and can fail. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/sha256.h"
#include "executors/effect_blobs.h"

namespace holdfast::executors::testing {

class MemoryBlobs : public EffectBlobs {
 public:
  base::Result<base::Bytes> get(const base::Hash& hash) override {
    const std::lock_guard lock(mutex_);
    const auto found = blobs_.find(hash);
    if (found == blobs_.end())
      return base::Error(base::ErrorCode::kNotFound, hash.to_text(), "there is no such blob");
    return found->second;
  }
  using EffectBlobs::keep;
  base::Result<BlobPin> keep(std::span<const base::ByteView> blobs) override {
    ++syncs;
    while (holds) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    if (fails) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    for (const base::ByteView blob : blobs) {
      if (blob.size() > most_bytes) return base::Error(base::ErrorCode::kTooLarge, "too large");
    }
    for (const base::ByteView blob : blobs)
      blobs_[base::sha256(blob)].assign(blob.begin(), blob.end());
    return BlobPin(pins);
  }
  // It is there from now on.
  base::Hash put(base::ByteView blob) {
    EXPECT_TRUE(keep(blob));
    return base::sha256(blob);
  }
  void damage(const base::Hash& hash) {
    const std::lock_guard lock(mutex_);
    blobs_[hash].push_back('!');
  }

  const std::shared_ptr<int> pins = std::make_shared<int>();  // how many there are: its use count
  std::atomic<int> syncs = 0;
  std::atomic<bool> fails = false;
  std::atomic<bool> holds = false;                              // nobody comes back
  std::atomic<std::size_t> most_bytes = std::size_t{64} << 20;  // of one

 private:
  std::mutex mutex_;
  std::map<base::Hash, base::Bytes> blobs_;
};

}  // namespace holdfast::executors::testing
