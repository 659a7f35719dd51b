// SPDX-License-Identifier: Apache-2.0
// Taking a blob and everything that it reaches over into another store.
#pragma once

#include <functional>

#include "store/blob_marks.h"
#include "store/blobs_look.h"

namespace holdfast::store {

// kNotFound, kCorrupt: something that it reaches cannot be had; what was taken over before stays,
// and is of no use. It is durable when this returns.
using BlobsFrom = std::function<base::Result<base::Bytes>(const base::Hash& hash)>;
base::Result<void> copy_reachable(const BlobsFrom& from, BlobStore& to, const BlobShapes& shapes,
                                  const BlobReference& root);

// Takes over every blob that `from` has, and gives how many. `lost` is told of each that cannot be
// read: its number, and why; an error of it ends the copying. Durable when this returns.
using LostBlob = std::function<base::Result<void>(std::uint64_t number, const base::Error& why)>;
base::Result<std::uint64_t> copy_all_blobs(BlobsLook& from, BlobStore& to, const LostBlob& lost);

}  // namespace holdfast::store
