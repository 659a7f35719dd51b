// SPDX-License-Identifier: Apache-2.0
// The bytes of a cell in the cell index. A small state stands inside them, a large one is a blob.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/cell.h"

namespace holdfast::kernel {

// States up to this size live inside the index.
inline constexpr std::size_t kInlineStateBytes = 1024;

// The name of a key in the index: the hash of its canonical bytes, standing alone.
base::Hash key_hash(base::ByteView key);

base::Bytes encode_cell(const Cell& cell);

// Refuses what encode_cell does not produce.
base::Result<Cell> decode_cell(base::ByteView bytes);

}  // namespace holdfast::kernel
