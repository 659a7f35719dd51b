// SPDX-License-Identifier: Apache-2.0
// The bytes of a cell in the cell index. Small values stand inside them, large ones are blobs of
// their own; see also mail_codec.h.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/blobs.h"
#include "kernel/cell.h"

namespace holdfast::kernel {

// The name of a key in the index: the hash of its canonical bytes, standing alone.
base::Hash key_hash(base::ByteView key);

// Large values must be in their blobs; the chunks of much mail are put here.
base::Result<base::Bytes> encode_cell(const Cell& cell, Blobs& blobs);

// Refuses what encode_cell does not produce.
base::Result<Cell> decode_cell(base::ByteView bytes, const Blobs& blobs);

// The same, but mail in chunks is not in the cell: they are only named.
base::Result<Cell> decode_cell(base::ByteView bytes, std::vector<base::Hash>& mail_chunks);

}  // namespace holdfast::kernel
