// SPDX-License-Identifier: Apache-2.0
// Taking a blob and everything that it reaches over into another store.
#pragma once

#include "store/blob_marks.h"
#include "store/blobs_look.h"

namespace holdfast::store {

// kNotFound, kCorrupt: something that it reaches cannot be had; what was taken over before stays,
// and is of no use. It is durable when this returns.
base::Result<void> copy_reachable(BlobsLook& from, BlobStore& to, const BlobShapes& shapes,
                                  const BlobReference& root);

}  // namespace holdfast::store
