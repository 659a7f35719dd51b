// SPDX-License-Identifier: Apache-2.0
// Blob: sys/blob.put@1 and sys/blob.get@1. What was put is durable before its receipt is given;
// what waits together is kept together, or, when that does not go well, one by one. What is got is
// what was put: it is hashed again here, whoever keeps it. Doing either twice changes nothing.
#pragma once

#include <memory>

#include "executors/effect_blobs.h"
#include "executors/thread_executor.h"

namespace holdfast::executors {

struct BlobOptions {
  QueueOptions queue{.at_once = 64};
};

// What is given must outlive them.
std::unique_ptr<Executor> blob_put_executor(const BlobOptions& options, EffectBlobs& blobs);
std::unique_ptr<Executor> blob_get_executor(const BlobOptions& options, EffectBlobs& blobs);

}  // namespace holdfast::executors
