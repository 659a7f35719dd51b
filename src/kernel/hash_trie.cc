// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash_trie.h"

#include <utility>

#include "base/check.h"
#include "kernel/hash_trie_node.h"

namespace holdfast::kernel {
namespace {

constexpr std::size_t kDeepest = 64;  // four bits of a hash are one level

std::uint64_t count_of(const TrieNode& node) {
  if (const auto* leaf = std::get_if<TrieLeaf>(&node)) return leaf->entries.size();
  std::uint64_t count = 0;
  for (const TrieChild& child : std::get_if<TrieBranch>(&node)->children) count += child.count;
  return count;
}

base::Result<TrieNode> load(const Blobs& blobs, const TrieChild& child, std::size_t depth,
                            TrieCache* cache = nullptr) {
  if (child.count == 0) return TrieNode(TrieLeaf{});
  const TrieNode* known = cache == nullptr ? nullptr : cache->find(child.hash);
  TrieNode node = known != nullptr ? *known : TRY(decode_trie_node(TRY(blobs.get(child.hash))));
  if (count_of(node) == child.count && depth <= kDeepest) return node;
  return base::Error(base::ErrorCode::kCorrupt, "a hash trie is not what it says it is");
}

// Recurses at most once per four bits of a hash.
base::Result<bool> visit_node(const Blobs& blobs, const TrieChild& at, std::size_t depth,
                              const HashTrie::Visitor& visitor) {
  const TrieNode node = TRY(load(blobs, at, depth));
  if (const auto* leaf = std::get_if<TrieLeaf>(&node)) {
    for (const auto& [key, entry] : leaf->entries) {
      if (!visitor(key, entry)) return false;
    }
    return true;
  }
  for (const TrieChild& child : std::get_if<TrieBranch>(&node)->children) {
    if (child.count == 0) continue;
    const bool more = TRY(visit_node(blobs, child, depth + 1, visitor));
    if (!more) return false;
  }
  return true;
}

class Updater {
 public:
  using Change = HashTrie::Changes::const_iterator;

  Updater(Blobs& blobs, TrieCache& cache) : blobs_(blobs), cache_(cache) {}

  // The changes all agree with `at` in the bits above `depth`.
  base::Result<TrieChild> update(const TrieChild& at, Change begin, Change end, std::size_t depth) {
    if (begin == end) return at;
    TrieNode node = TRY(load(blobs_, at, depth, &cache_));
    if (auto* leaf = std::get_if<TrieLeaf>(&node)) {
      for (Change change = begin; change != end; ++change) {
        if (change->second) {
          leaf->entries[change->first] = *change->second;
        } else {
          leaf->entries.erase(change->first);
        }
      }
      return build(std::move(leaf->entries), depth);
    }
    auto& branch = *std::get_if<TrieBranch>(&node);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < branch.children.size(); ++i) {
      Change stop = begin;
      while (stop != end && nibble(stop->first, depth) == i) ++stop;
      branch.children[i] = TRY(update(branch.children[i], begin, stop, depth + 1));
      count += branch.children[i].count;
      begin = stop;
    }
    if (count > HashTrie::kLeafEntries) return save(std::move(branch), count);
    return gather(branch, depth);
  }

 private:
  using Entries = std::map<base::Hash, base::Bytes>;

  base::Result<TrieChild> save(const TrieLeaf& leaf) {
    if (leaf.entries.empty()) return TrieChild{};
    return TrieChild{leaf.entries.size(), TRY(blobs_.put(encode(leaf))), marks_of(leaf)};
  }

  base::Result<TrieChild> save(TrieBranch branch, std::uint64_t count) {
    const base::Hash hash = TRY(blobs_.put(encode(branch)));
    cache_.add(hash, std::move(branch));
    return TrieChild{count, hash};
  }

  base::Result<TrieChild> build(Entries entries, std::size_t depth) {
    const std::uint64_t count = entries.size();
    if (count <= HashTrie::kLeafEntries) return save(TrieLeaf{std::move(entries)});
    CHECK(depth < kDeepest);  // two keys with one hash are one key
    std::array<Entries, 16> parts;
    while (!entries.empty()) {
      auto entry = entries.extract(entries.begin());
      Entries& part = parts[nibble(entry.key(), depth)];
      part.insert(part.end(), std::move(entry));
    }
    TrieBranch branch;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      branch.children[i] = TRY(build(std::move(parts[i]), depth + 1));
    }
    return save(std::move(branch), count);
  }

  // A branch that has become small is a leaf again.
  base::Result<TrieChild> gather(const TrieBranch& branch, std::size_t depth) {
    Entries entries;
    for (const TrieChild& child : branch.children) {
      if (child.count == 0) continue;
      TRY(visit_node(blobs_, child, depth + 1, [&](const base::Hash& key, base::ByteView entry) {
        entries.emplace_hint(entries.end(), key, base::Bytes(entry.begin(), entry.end()));
        return true;
      }));
    }
    return save(TrieLeaf{std::move(entries)});
  }

  Blobs& blobs_;
  TrieCache& cache_;
};

}  // namespace

TrieCache::TrieCache() = default;
TrieCache::~TrieCache() = default;
TrieCache::TrieCache(TrieCache&&) noexcept = default;
TrieCache& TrieCache::operator=(TrieCache&&) noexcept = default;

const TrieNode* TrieCache::find(const base::Hash& hash) {
  if (const auto found = young_.find(hash); found != young_.end()) return found->second.get();
  auto found = old_.extract(hash);
  return found ? &keep(hash, std::move(found.mapped())) : nullptr;
}

const TrieNode& TrieCache::add(const base::Hash& hash, TrieNode node) {
  return keep(hash, std::make_unique<const TrieNode>(std::move(node)));
}

const TrieNode& TrieCache::keep(const base::Hash& hash, std::unique_ptr<const TrieNode> node) {
  if (young_.size() >= kMostNodes) {
    old_ = std::move(young_);
    young_.clear();
  }
  return *young_.emplace(hash, std::move(node)).first->second;
}

TrieChild HashTrie::top() const { return {count_, root_}; }

base::Result<std::optional<base::Bytes>> HashTrie::find(const Blobs& blobs, TrieCache& cache,
                                                        const base::Hash& key) const {
  const TrieChild top_child = top();
  const TrieChild* at = &top_child;
  for (std::size_t depth = 0; at->count != 0 && at->may_have(key); ++depth) {
    const TrieNode* node = cache.find(at->hash);
    TrieNode loaded;
    if (node == nullptr) {
      loaded = TRY(load(blobs, *at, depth));
      // Leaves are many, and each is seldom looked at; but the only leaf of a small trie is not.
      const bool keep = depth == 0 || std::holds_alternative<TrieBranch>(loaded);
      node = keep ? &cache.add(at->hash, std::move(loaded)) : &loaded;
    }
    if (const auto* leaf = std::get_if<TrieLeaf>(node)) {
      const auto found = leaf->entries.find(key);
      if (found == leaf->entries.end()) break;
      return std::optional(found->second);
    }
    if (depth == kDeepest)
      return base::Error(base::ErrorCode::kCorrupt, "a hash trie is deeper than its hashes");
    at = &std::get_if<TrieBranch>(node)->children[nibble(key, depth)];
  }
  return std::optional<base::Bytes>();
}

base::Result<void> HashTrie::check_root(const Blobs& blobs) const {
  // Nothing has one name only, so a size that was changed to 0 shows.
  if ((count_ == 0) != root_.is_zero())
    return base::Error(base::ErrorCode::kCorrupt, "a hash trie is not what it says it is");
  TRY(load(blobs, top(), 0));
  return {};
}

base::Result<void> HashTrie::visit(const Blobs& blobs, const Visitor& visitor) const {
  TRY(visit_node(blobs, top(), 0, visitor));
  return {};
}

base::Result<void> HashTrie::apply(Blobs& blobs, TrieCache& cache, const Changes& changes) {
  const TrieChild made =
      TRY(Updater(blobs, cache).update(top(), changes.begin(), changes.end(), 0));
  root_ = made.hash;
  count_ = made.count;
  return {};
}

}  // namespace holdfast::kernel
