// SPDX-License-Identifier: Apache-2.0
// ScratchBlobs: blobs for a world that is thrown away. Those it puts are in memory, and bounded;
// those of a stored world are read from there.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>

#include "base/sha256.h"
#include "kernel/blobs.h"
#include "store/blobs_look.h"

namespace holdfast::node {

class ScratchBlobs : public kernel::Blobs {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  using Get = std::function<base::Result<base::Bytes>(const base::Hash& hash)>;

  // Null: nothing is stored. It must outlive this.
  explicit ScratchBlobs(store::BlobsLook* stored = nullptr) {
    if (stored != nullptr) stored_ = [stored](const base::Hash& hash) { return stored->get(hash); };
  }
  explicit ScratchBlobs(Get stored) : stored_(std::move(stored)) {}

  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    const auto found = blobs_.find(hash);
    if (found != blobs_.end()) return found->second;
    if (stored_) return stored_(hash);
    return base::Error(base::ErrorCode::kNotFound, hash.to_text(), "there is no such blob");
  }

  base::Result<base::Hash> put(base::ByteView bytes) override {
    const base::Hash hash = base::sha256(bytes);
    if (blobs_.contains(hash)) return hash;
    if (bytes.size() > kMaxBytes - used_)
      return base::Error(base::ErrorCode::kTooLarge, "the world is too large to replay in memory");
    used_ += bytes.size();
    blobs_.try_emplace(hash, bytes.begin(), bytes.end());
    return hash;
  }

  std::size_t put_bytes() const noexcept { return used_; }

 private:
  Get stored_;
  std::unordered_map<base::Hash, base::Bytes, base::HashOfHash> blobs_;
  std::size_t used_ = 0;
};

}  // namespace holdfast::node
