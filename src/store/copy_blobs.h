// SPDX-License-Identifier: Apache-2.0
// Taking a blob and everything that it reaches over into another store.
#pragma once

#include <functional>

#include "store/blob_marks.h"

namespace holdfast::store {

// kNotFound, kCorrupt: something that it reaches cannot be had; what was taken over before stays,
// and is of no use. It is durable when this returns.
using BlobsFrom = std::function<base::Result<base::Bytes>(const base::Hash& hash)>;
base::Result<void> copy_reachable(const BlobsFrom& from, BlobStore& to, const BlobShapes& shapes,
                                  const BlobReference& root);

}  // namespace holdfast::store
