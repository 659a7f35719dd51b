// SPDX-License-Identifier: Apache-2.0
// How a collection of blobs finds its way: what the kernel's blobs name, as the store asks for it.
#pragma once

#include "store/blob_gc.h"

namespace holdfast::node {

store::BlobShapes blob_shapes();

}  // namespace holdfast::node
