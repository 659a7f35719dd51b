// SPDX-License-Identifier: Apache-2.0
// For the tests: blobs in memory, that take no larger ones than the store does, and blobs
// that count.
#pragma once

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "kernel/blobs.h"

namespace holdfast::kernel::testing {

class MemoryBlobs : public Blobs {
 public:
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    const auto found = blobs_.find(hash);
    if (found == blobs_.end())
      return base::Error(base::ErrorCode::kNotFound, "no blob " + hash.to_text());
    return found->second;
  }
  base::Result<base::Hash> put(base::ByteView bytes) override {
    if (bytes.size() > kMaxBlobBytes)
      return base::Error(base::ErrorCode::kTooLarge,
                         "a blob of " + std::to_string(bytes.size()) + " bytes");
    if (is_full) return base::Error(base::ErrorCode::kUnavailable, "the disk is full");
    const base::Hash hash = base::sha256(bytes);
    blobs_.try_emplace(hash, bytes.begin(), bytes.end());
    return hash;
  }

  std::size_t count() const { return blobs_.size(); }
  bool has(const base::Hash& hash) const { return blobs_.contains(hash); }
  void lose(const base::Hash& hash) { blobs_.erase(hash); }
  void exchange(const base::Hash& hash, base::Bytes bytes) { blobs_[hash] = std::move(bytes); }
  bool is_full = false;

 private:
  std::map<base::Hash, base::Bytes> blobs_;
};

// Counts what is read and written, and can be told to fail.
class CountingBlobs : public MemoryBlobs {
 public:
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    ++gets;
    if (broken) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::get(hash);
  }
  base::Result<base::Hash> put(base::ByteView bytes) override {
    ++puts;
    largest = std::max(largest, bytes.size());
    if (broken) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::put(bytes);
  }
  mutable int gets = 0;
  int puts = 0;
  std::size_t largest = 0;
  bool broken = false;
};

}  // namespace holdfast::kernel::testing
