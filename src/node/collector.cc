// SPDX-License-Identifier: Apache-2.0
#include "node/collector.h"

#include <algorithm>

#include "node/blob_shapes.h"

namespace holdfast::node {
namespace {

// So that the world's thread, if it wants to read a blob, does not wait for long.
constexpr std::size_t kBlobsPerPiece = 64;

}  // namespace

base::Result<bool> Collector::is_due() {
  if (is_asked_) return true;
  const std::uint64_t file_bytes = TRY(store_.file_bytes());
  if (file_bytes < least_bytes_) return false;
  return !has_run_ ||
         blobs_.written_bytes() - written_before_ >= std::max(least_bytes_, file_bytes / 2);
}

base::Result<bool> Collector::go_on() {
  return blobs_.with_store([this]() -> base::Result<bool> {
    if (!running_) {
      if (!TRY(is_due())) return false;
      running_ = TRY(store::BlobGc::begin(store_, snapshots_, blob_shapes()));
      written_then_ = blobs_.written_bytes();
    }
    const auto progress = running_->step(kBlobsPerPiece);
    const bool goes_on = progress && !progress->done;
    if (progress && progress->done) {
      removed_ += progress->removed;
      written_before_ = written_then_;
      is_asked_ = false;
      has_run_ = true;
    }
    if (!goes_on) running_.reset();
    if (!progress)
      return base::Error(progress.error().code(), progress.error().where(),
                         progress.error().message());
    return goes_on;
  });
}

}  // namespace holdfast::node
