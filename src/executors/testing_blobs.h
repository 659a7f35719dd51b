// SPDX-License-Identifier: Apache-2.0
// Blobs in memory, that can be damaged and can fail. For tests only.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

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
  base::Result<base::Hash> put(base::ByteView bytes) override {
    const std::lock_guard lock(mutex_);
    const base::Hash hash = base::sha256(bytes);
    blobs_[hash].assign(bytes.begin(), bytes.end());
    return hash;
  }
  base::Result<void> sync() override {
    ++syncs;
    if (fails) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return {};
  }
  void damage(const base::Hash& hash) {
    const std::lock_guard lock(mutex_);
    blobs_[hash].push_back('!');
  }

  std::atomic<int> syncs = 0;
  std::atomic<bool> fails = false;

 private:
  std::mutex mutex_;
  std::map<base::Hash, base::Bytes> blobs_;
};

}  // namespace holdfast::executors::testing
