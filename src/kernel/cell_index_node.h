// SPDX-License-Identifier: Apache-2.0
// One node of the cell index, and its bytes: a leaf is [0, key, entry, key, entry, ...], a branch
// is [1, count, hash, count, hash, ...] with sixteen pairs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <variant>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace holdfast::kernel {

struct IndexLeaf {
  std::map<base::Hash, base::Bytes> entries;
};

struct IndexChild {
  std::uint64_t count = 0;  // 0: nothing there
  base::Hash hash;
};

struct IndexBranch {
  std::array<IndexChild, 16> children;
};

using IndexNode = std::variant<IndexLeaf, IndexBranch>;

base::Bytes encode(const IndexNode& node);

// Refuses what encode does not produce.
base::Result<IndexNode> decode_index_node(base::ByteView bytes);

// The four bits of a key hash that choose the child at a depth.
std::size_t nibble(const base::Hash& key, std::size_t depth) noexcept;

}  // namespace holdfast::kernel
