// SPDX-License-Identifier: Apache-2.0
// One node of a hash trie, and its bytes: a leaf is [0, key, entry, key, entry, ...], a branch
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

struct TrieLeaf {
  std::map<base::Hash, base::Bytes> entries;
};

struct TrieChild {
  std::uint64_t count = 0;  // 0: nothing there
  base::Hash hash;
};

struct TrieBranch {
  std::array<TrieChild, 16> children;
};

using TrieNode = std::variant<TrieLeaf, TrieBranch>;

base::Bytes encode(const TrieNode& node);

// Refuses what encode does not produce.
base::Result<TrieNode> decode_trie_node(base::ByteView bytes);

// The four bits of a hash that choose the child at a depth.
std::size_t nibble(const base::Hash& key, std::size_t depth) noexcept;

}  // namespace holdfast::kernel
