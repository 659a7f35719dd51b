// SPDX-License-Identifier: Apache-2.0
#include "node/store_blobs.h"

#include <utility>

#include "base/sha256.h"

namespace holdfast::node {

base::Result<base::Bytes> StoreBlobs::get(const base::Hash& hash) const {
  if (const auto found = waiting_.find(hash); found != waiting_.end()) return found->second;
  return store_.get(hash);
}

base::Result<base::Hash> StoreBlobs::put(base::ByteView bytes) {
  if (bytes.size() > store::kMaxBlobBytes) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "a blob of more than " + std::to_string(store::kMaxBlobBytes) + " bytes");
  }
  const base::Hash hash = base::sha256(bytes);
  if (waiting_.contains(hash)) return hash;
  if (waiting_bytes_ + bytes.size() > most_waiting_bytes_) TRY(make_durable());
  waiting_.try_emplace(hash, bytes.begin(), bytes.end());
  waiting_bytes_ += bytes.size();
  return hash;
}

base::Result<void> StoreBlobs::make_durable() {
  // What the store takes before it finds no more room, it keeps: putting it again costs little.
  for (const auto& [hash, bytes] : waiting_) TRY(store_.put(bytes));
  TRY(store_.sync());
  waiting_.clear();
  waiting_bytes_ = 0;
  return {};
}

}  // namespace holdfast::node
