// SPDX-License-Identifier: Apache-2.0
// One node of a hash trie, and its bytes: a leaf is [0, key, entry, key, entry, ...], a branch
// is [1, count, hash, marks, count, hash, marks, ...] for sixteen children.
//
// The marks of a child that is a leaf are the last two bytes of each of its keys: whoever looks for
// a key that is not there, as every new instance does, seldom reads a leaf in vain.
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
  base::Bytes marks = {};  // of a leaf; empty: not known

  // Whether the key may be below.
  bool may_have(const base::Hash& key) const noexcept;
};

struct TrieBranch {
  std::array<TrieChild, 16> children;
};

using TrieNode = std::variant<TrieLeaf, TrieBranch>;

base::Bytes encode(const TrieNode& node);

// Refuses what encode does not produce.
base::Result<TrieNode> decode_trie_node(base::ByteView bytes);

base::Bytes marks_of(const TrieLeaf& leaf);

// The four bits of a hash that choose the child at a depth.
std::size_t nibble(const base::Hash& key, std::size_t depth) noexcept;
base::Hash with_nibble(base::Hash key, std::size_t depth, std::size_t nibble) noexcept;

}  // namespace holdfast::kernel
