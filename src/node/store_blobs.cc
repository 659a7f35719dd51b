// SPDX-License-Identifier: Apache-2.0
#include "node/store_blobs.h"

#include "base/sha256.h"

namespace holdfast::node {

base::Result<base::Bytes> StoreBlobs::get(const base::Hash& hash) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = waiting_.find(hash); found != waiting_.end()) return *found->second;
  }
  const std::lock_guard lock(storing_);
  return store_.get(hash);
}

base::Result<base::Hash> StoreBlobs::put(base::ByteView bytes) {
  if (bytes.size() > store::kMaxBlobBytes) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "a blob of more than " + std::to_string(store::kMaxBlobBytes) + " bytes");
  }
  const base::Hash hash = base::sha256(bytes);
  std::unique_lock lock(mutex_);
  if (waiting_.contains(hash)) return hash;
  if (waiting_bytes_ + bytes.size() > most_waiting_bytes_) {
    lock.unlock();
    TRY(write(waiting(), [] { return base::Result<void>(); }));
    lock.lock();
  }
  waiting_.emplace(hash, std::make_shared<const base::Bytes>(bytes.begin(), bytes.end()));
  waiting_bytes_ += bytes.size();
  return hash;
}

std::vector<StoreBlobs::Blob> StoreBlobs::waiting() const {
  const std::lock_guard lock(mutex_);
  return {waiting_.begin(), waiting_.end()};
}

base::Result<void> StoreBlobs::write(const std::vector<Blob>& blobs,
                                     const std::function<base::Result<void>()>& rest) {
  const std::lock_guard writing(writing_);
  // What the store takes before it finds no more room, it keeps: putting it again costs little.
  for (const auto& [hash, bytes] : blobs) {
    const std::lock_guard storing(storing_);
    TRY(store_.put(*bytes));
  }
  {
    const std::lock_guard storing(storing_);
    TRY(store_.sync());
    TRY(rest());
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, bytes] : blobs) {
    written_bytes_ += bytes->size();
    if (waiting_.erase(hash) != 0) waiting_bytes_ -= bytes->size();
  }
  return {};
}

std::uint64_t StoreBlobs::written_bytes() const {
  const std::lock_guard lock(mutex_);
  return written_bytes_;
}

}  // namespace holdfast::node
