// SPDX-License-Identifier: Apache-2.0
// One node of a hash trie, and its bytes: a leaf is [0, key, entry, key, entry, ...], a branch
// is [1, count, hash, marks, count, hash, marks, ...] for sixteen children.
//
// The marks of a child that is a leaf are the last two bytes of each of its keys: whoever looks for
// a key that is not there, as every new instance does, seldom reads a leaf in vain. Other children
// have none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "kernel/hash_trie.h"

namespace holdfast::kernel {

struct TrieEntry {
  base::Hash key;
  base::ByteView bytes;  // somewhere else
};

// A leaf is the bytes of its blob, and where its entries are in them: a leaf that is changed is
// merged from here straight into the bytes of the next one. A copy shares the bytes.
struct TrieLeaf {
  std::shared_ptr<const base::Bytes> bytes = {};  // null: the entries are somewhere else
  std::vector<TrieEntry> entries = {};            // in order

  const TrieEntry* find(const base::Hash& key) const;  // null: it is not there
};

// A branch is one piece of memory: the cache keeps many, and many small pieces between everything
// else that comes and goes would hold pages for nothing.
struct TrieChild {
  static constexpr std::size_t kMarkBytes = 2;

  std::uint64_t count = 0;  // 0: nothing there
  base::Hash hash;
  std::array<std::uint8_t, kMarkBytes * HashTrie::kLeafEntries> mark_bytes;  // see marks()

  bool is_leaf() const noexcept { return count <= HashTrie::kLeafEntries; }
  base::ByteView marks() const noexcept {
    return {mark_bytes.data(), is_leaf() ? kMarkBytes * count : 0};
  }

  // Whether the key may be below.
  bool may_have(const base::Hash& key) const noexcept;
};

struct TrieBranch {
  std::array<TrieChild, 16> children;
};

// Replaces what is in the buffer. The entries are in order.
void encode_leaf(codec::Buffer& out, std::span<const TrieEntry> entries);
void encode_branch(codec::Buffer& out, const TrieBranch& branch);

// Refuses what they do not produce.
base::Result<TrieNode> decode_trie_node(base::Bytes bytes);

// What a branch says of a leaf that has entries.
TrieChild child_of(std::span<const TrieEntry> leaf, const base::Hash& hash);

// The four bits of a hash that choose the child at a depth.
std::size_t nibble(const base::Hash& key, std::size_t depth) noexcept;
base::Hash with_nibble(base::Hash key, std::size_t depth, std::size_t nibble) noexcept;

}  // namespace holdfast::kernel
