// SPDX-License-Identifier: Apache-2.0
// HashTrie: a map from hashes to bytes, kept in blobs as a content-addressed trie: the cells that
// are not in memory, by the hashes of their keys, and the open intents. Unchanged parts are shared
// between versions, so a snapshot writes only what changed and a fork writes nothing.
//
// Invariant: the shape, and so the root, depends on the entries alone, never on the order in
// which they came or went. A part with at most kLeafEntries entries is one leaf; a larger one is
// a branch over the next four bits.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/blobs.h"

namespace holdfast::kernel {

struct TrieBranch;
struct TrieChild;
struct TrieLeaf;
using TrieNode = std::variant<TrieLeaf, TrieBranch>;

// Nodes of tries that were read or written lately, so that looking for a key reads little. A node
// never changes: what is in here is right for every version of a trie. Bounded by bytes: there are
// two generations, and when the younger one is full, it takes the place of the older one; what is
// found in the older one moves into the younger.
class TrieCache {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;      // in each generation
  static constexpr std::size_t kBranchBytes = 1792;                     // about, with its place
  static constexpr std::size_t kMostLeafBytes = std::size_t{64} << 10;  // larger ones are not kept

  TrieCache();
  ~TrieCache();
  TrieCache(TrieCache&&) noexcept;
  TrieCache& operator=(TrieCache&&) noexcept;

  // They hold until the next find or add: either may turn the generations over.
  const TrieNode* find(const base::Hash& hash);
  const TrieNode& add(const base::Hash& hash, TrieNode node);

 private:
  struct Generation;

  std::unique_ptr<Generation> young_;
  std::unique_ptr<Generation> old_;
};

class HashTrie {
 public:
  static constexpr std::size_t kLeafEntries = 32;

  // What to write under a hash; nothing: remove it. What was said last about a hash holds.
  class Changes {
   public:
    using Change = std::pair<base::Hash, std::optional<base::Bytes>>;

    Changes() = default;
    Changes(std::initializer_list<Change> changes) : list_(changes) {}

    std::optional<base::Bytes>& operator[](const base::Hash& key) {
      return list_.emplace_back(key, std::nullopt).second;
    }
    void reserve(std::size_t count) { list_.reserve(count); }

    // In order, as the trie is, each hash once.
    std::vector<Change> in_order() &&;

   private:
    std::vector<Change> list_;  // to sort them once costs less than a tree that is always in order
  };

  // The zero hash is the empty trie.
  explicit HashTrie(base::Hash root = {}, std::uint64_t count = 0) : root_(root), count_(count) {}

  const base::Hash& root() const noexcept { return root_; }
  std::uint64_t size() const noexcept { return count_; }

  // Whether the root is there and has that many entries; what is below it is read when needed.
  base::Result<void> check_root(const Blobs& blobs) const;

  base::Result<std::optional<base::Bytes>> find(const Blobs& blobs, TrieCache& cache,
                                                const base::Hash& key) const;

  // All entries in the order of their hashes; the visitor says whether to go on.
  using Visitor = std::function<bool(const base::Hash& key, base::ByteView entry)>;
  base::Result<void> visit(const Blobs& blobs, const Visitor& visitor) const;

  // All changes or, when a blob cannot be read or written, none. The branches that it writes are
  // in the cache, as whoever looks for a key will need them.
  base::Result<void> apply(Blobs& blobs, TrieCache& cache, Changes changes);

 private:
  TrieChild top() const;

  base::Hash root_;
  std::uint64_t count_;
};

}  // namespace holdfast::kernel
