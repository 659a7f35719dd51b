// SPDX-License-Identifier: Apache-2.0
#include "node/store_blobs.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "base/sha256.h"

namespace holdfast::node {
namespace {

// Whoever reads for the world waits while so much is written, and not for all of a snapshot.
constexpr std::size_t kWrittenAtOnce = std::size_t{256} << 10;

// Little enough that a slow disk does not keep the journal waiting for long.
constexpr std::size_t kSyncedAtOnce = std::size_t{1} << 20;

}  // namespace

base::Result<base::Bytes> StoreBlobs::get(const base::Hash& hash) const {
  {
    const std::lock_guard lock(mutex_);
    for (const ByHash* blobs : {&waiting_, &begun_})
      if (const auto found = blobs->find(hash); found != blobs->end()) return found->second;
  }
  ++reading_;
  const std::lock_guard lock(storing_);
  --reading_;
  return store_.get(hash);
}

// A mutex alone would let the same thread in again and again before whoever waits for it.
void StoreBlobs::let_readers_in() const {
  while (reading_ != 0) std::this_thread::yield();
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
    if (has_begun_)
      return base::Error(base::ErrorCode::kUnavailable,
                         "too much waits for a snapshot to be written");
    lock.unlock();
    TRY(write_waiting());
    lock.lock();
  }
  waiting_.emplace(hash, base::Bytes(bytes.begin(), bytes.end()));
  waiting_bytes_ += bytes.size();
  return hash;
}

void StoreBlobs::begin_writing() {
  const std::lock_guard lock(mutex_);
  // Mostly nothing was left over, and then nothing is moved one by one.
  if (begun_.empty()) {
    std::swap(begun_, waiting_);
  } else {
    begun_.merge(std::exchange(waiting_, {}));
  }
  waiting_bytes_ = 0;
  has_begun_ = true;
}

bool StoreBlobs::has_much() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_ >= much_waiting_bytes_;
}

bool StoreBlobs::is_crowded() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_ >= most_waiting_bytes_ / 2;
}

base::Result<void> StoreBlobs::write_waiting() {
  begin_writing();
  return finish_writing([] { return base::Result<void>(); });
}

base::Result<void> StoreBlobs::finish_writing(const std::function<base::Result<void>()>& rest) {
  auto finished = write_begun(rest);
  std::uint64_t bytes_begun = 0;
  for (const auto& [hash, bytes] : begun_) bytes_begun += bytes.size();
  ByHash written;  // many, and nobody waits while they go
  const std::lock_guard lock(mutex_);
  has_begun_ = false;
  if (finished) {
    written_bytes_ += bytes_begun;
    std::swap(written, begun_);
    return finished;
  }
  waiting_.merge(std::exchange(begun_, {}));
  waiting_bytes_ = 0;
  for (const auto& [hash, bytes] : waiting_) waiting_bytes_ += bytes.size();
  return finished;
}

// In the order of their hashes, so that a simulation repeats itself, and that neighbours in the
// store are written together.
base::Result<void> StoreBlobs::write_begun(const std::function<base::Result<void>()>& rest) {
  std::vector<store::BlobStore::Hashed> blobs;
  blobs.reserve(begun_.size());
  for (const auto& [hash, bytes] : begun_) blobs.push_back({hash, bytes});
  std::ranges::sort(blobs, {}, &store::BlobStore::Hashed::hash);
  // What the store takes before it finds no more room, it keeps: putting it again costs little.
  std::size_t unsynced = 0;
  for (auto at = blobs.begin(); at != blobs.end();) {
    auto end = at;
    std::size_t bytes = 0;
    for (; end != blobs.end() && bytes < kWrittenAtOnce; ++end) bytes += end->bytes.size();
    let_readers_in();
    const std::lock_guard storing(storing_);
    TRY(store_.put_all({at, end}));
    unsynced += bytes;
    if (unsynced >= kSyncedAtOnce) {
      TRY(store_.sync());
      unsynced = 0;
    }
    at = end;
  }
  const std::lock_guard storing(storing_);
  TRY(store_.sync());
  return rest();
}

std::uint64_t StoreBlobs::written_bytes() const {
  const std::lock_guard lock(mutex_);
  return written_bytes_;
}

}  // namespace holdfast::node
