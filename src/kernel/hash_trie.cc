// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash_trie.h"

#include <algorithm>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/kept_hash.h"
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

// What a node takes in memory, about.
std::size_t bytes_of(const TrieNode& node) {
  const auto* leaf = std::get_if<TrieLeaf>(&node);
  if (leaf == nullptr) return TrieCache::kBranchBytes;
  std::size_t bytes = 0;
  for (const TrieEntry& entry : leaf->entries) bytes += sizeof entry + entry.bytes.size();
  return bytes;
}

bool same_path(const base::Hash& a, const base::Hash& b, std::size_t depth) {
  for (std::size_t i = 0; i < depth; ++i) {
    if (nibble(a, i) != nibble(b, i)) return false;
  }
  return true;
}

// Whether there can be such a node at the end of the first `depth` steps towards `path`. Everything
// else that is done with a node relies on it: its bytes may be anything.
bool fits(const TrieNode& node, std::uint64_t count, const base::Hash& path, std::size_t depth) {
  if (count_of(node) != count) return false;
  const auto* leaf = std::get_if<TrieLeaf>(&node);
  if (leaf == nullptr) return count > HashTrie::kLeafEntries && depth < kDeepest;
  if (count > HashTrie::kLeafEntries) return false;
  // They are in order, so what the first and the last have in common all have.
  return leaf->entries.empty() || (same_path(leaf->entries.front().key, path, depth) &&
                                   same_path(leaf->entries.back().key, path, depth));
}

// `path` agrees with all keys below in the bits above `depth`.
base::Result<TrieNode> load(const Blobs& blobs, const TrieChild& child, const base::Hash& path,
                            std::size_t depth, TrieCache* cache = nullptr) {
  if (child.count == 0) return TrieNode(TrieLeaf{});
  const TrieNode* known = cache == nullptr ? nullptr : cache->find(child.hash);
  TrieNode node = known != nullptr ? *known : TRY(decode_trie_node(TRY(blobs.get(child.hash))));
  if (fits(node, child.count, path, depth)) return node;
  return base::Error(base::ErrorCode::kCorrupt, "a hash trie is not what it says it is");
}

// Recurses at most once per four bits of a hash.
base::Result<bool> visit_node(const Blobs& blobs, const TrieChild& at, const base::Hash& path,
                              std::size_t depth, const HashTrie::Visitor& visitor) {
  const TrieNode node = TRY(load(blobs, at, path, depth));
  if (const auto* leaf = std::get_if<TrieLeaf>(&node)) {
    for (const TrieEntry& entry : leaf->entries) {
      if (!visitor(entry.key, entry.bytes)) return false;
    }
    return true;
  }
  const auto& children = std::get_if<TrieBranch>(&node)->children;
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (children[i].count == 0) continue;
    const bool more =
        TRY(visit_node(blobs, children[i], with_nibble(path, depth, i), depth + 1, visitor));
    if (!more) return false;
  }
  return true;
}

class Updater {
 public:
  using Change = std::vector<HashTrie::Changes::Change>::iterator;

  Updater(Blobs& blobs, TrieCache& cache) : blobs_(blobs), cache_(cache) {}

  // The changes all agree with `at` in the bits above `depth`.
  base::Result<TrieChild> update(const TrieChild& at, Change begin, Change end, std::size_t depth) {
    if (begin == end) return at;
    const base::Hash& path = begin->first;
    TrieNode node = TRY(load(blobs_, at, path, depth, &cache_));
    if (auto* leaf = std::get_if<TrieLeaf>(&node)) {
      return build(merged(leaf->entries, begin, end), depth);
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
    if (count > HashTrie::kLeafEntries) return save(branch, count);
    return gather(branch, path, depth);
  }

 private:
  using Entries = std::span<const TrieEntry>;

  // Both are in order. What is merged is where it was.
  static std::vector<TrieEntry> merged(Entries before, Change begin, Change end) {
    std::vector<TrieEntry> all;
    all.reserve(before.size() + static_cast<std::size_t>(end - begin));
    auto old = before.begin();
    for (Change change = begin; change != end; ++change) {
      while (old != before.end() && old->key < change->first) all.push_back(*old++);
      if (old != before.end() && old->key == change->first) ++old;
      if (change->second) all.push_back({change->first, *change->second});
    }
    all.insert(all.end(), old, before.end());
    return all;
  }

  base::Result<TrieChild> save_leaf(Entries entries) {
    if (entries.empty()) return TrieChild{};
    encode_leaf(buffer_, entries);
    return child_of(entries, TRY(blobs_.put(buffer_.view())));
  }

  base::Result<TrieChild> save(const TrieBranch& branch, std::uint64_t count) {
    encode_branch(buffer_, branch);
    const base::Hash hash = TRY(blobs_.put(buffer_.view()));
    cache_.add(hash, branch);
    return TrieChild{count, hash, {}};
  }

  // They are in order, so those of one child lie side by side.
  base::Result<TrieChild> build(Entries entries, std::size_t depth) {
    const std::uint64_t count = entries.size();
    if (count <= HashTrie::kLeafEntries) return save_leaf(entries);
    CHECK(depth < kDeepest);  // two keys with one hash are one key
    TrieBranch branch;
    for (std::size_t i = 0; i < branch.children.size(); ++i) {
      std::size_t size = 0;
      while (size < entries.size() && nibble(entries[size].key, depth) == i) ++size;
      branch.children[i] = TRY(build(entries.first(size), depth + 1));
      entries = entries.subspan(size);
    }
    return save(branch, count);
  }

  // A branch that has become small is a leaf again.
  base::Result<TrieChild> gather(const TrieBranch& branch, const base::Hash& path,
                                 std::size_t depth) {
    std::vector<std::pair<base::Hash, base::Bytes>> kept;
    const auto take = [&](const base::Hash& key, base::ByteView entry) {
      kept.emplace_back(key, base::Bytes(entry.begin(), entry.end()));
      return true;
    };
    for (std::size_t i = 0; i < branch.children.size(); ++i) {
      if (branch.children[i].count == 0) continue;
      TRY(visit_node(blobs_, branch.children[i], with_nibble(path, depth, i), depth + 1, take));
    }
    std::vector<TrieEntry> entries;
    entries.reserve(kept.size());
    for (const auto& [key, bytes] : kept) entries.push_back({key, bytes});
    return save_leaf(entries);
  }

  Blobs& blobs_;
  TrieCache& cache_;
  codec::Buffer buffer_;
};

}  // namespace

// Its nodes lie side by side, in memory of their own, and go together.
struct TrieCache::Generation {
  // Only looked into.
  using Nodes = std::pmr::unordered_map<base::Hash, TrieNode, base::KeptHash<base::HashOfHash>>;

  std::pmr::monotonic_buffer_resource memory{std::pmr::new_delete_resource()};
  Nodes nodes{&memory};
  std::size_t bytes = 0;
};

TrieCache::TrieCache() : young_(new Generation), old_(new Generation) {}
TrieCache::~TrieCache() = default;
TrieCache::TrieCache(TrieCache&&) noexcept = default;
TrieCache& TrieCache::operator=(TrieCache&&) noexcept = default;

const TrieNode* TrieCache::find(const base::Hash& hash) {
  if (const auto found = young_->nodes.find(hash); found != young_->nodes.end())
    return &found->second;
  const auto found = old_->nodes.find(hash);
  return found != old_->nodes.end() ? &add(hash, std::move(found->second)) : nullptr;
}

const TrieNode& TrieCache::add(const base::Hash& hash, TrieNode node) {
  const std::size_t bytes = bytes_of(node);
  if (young_->bytes + bytes > kMostBytes) {
    old_ = std::move(young_);
    young_ = std::make_unique<Generation>();
  }
  young_->bytes += bytes;
  return young_->nodes.insert_or_assign(hash, std::move(node)).first->second;
}

TrieChild HashTrie::top() const { return {count_, root_, {}}; }

base::Result<std::optional<base::Bytes>> HashTrie::find(const Blobs& blobs, TrieCache& cache,
                                                        const base::Hash& key) const {
  // Where to look next, without marks: a copy, as a node of the cache does not outlive the next
  // find.
  TrieChild at = top();
  for (std::size_t depth = 0; at.count != 0; ++depth) {
    const TrieNode* node = cache.find(at.hash);
    std::unique_ptr<const TrieNode> loaded;  // a pointer, as mostly there is none
    if (node == nullptr) {
      TrieNode read = TRY(load(blobs, at, key, depth));
      // Leaves are many, and each is seldom looked at; but the only leaf of a small trie is not.
      const bool keep = std::holds_alternative<TrieBranch>(read) ||
                        (depth == 0 && bytes_of(read) <= TrieCache::kMostLeafBytes);
      if (!keep) loaded = std::make_unique<const TrieNode>(std::move(read));
      node = keep ? &cache.add(at.hash, std::move(read)) : loaded.get();
    }
    if (const auto* leaf = std::get_if<TrieLeaf>(node)) {
      const TrieEntry* const found = leaf->find(key);
      if (found == nullptr) break;
      return std::optional(base::Bytes(found->bytes.begin(), found->bytes.end()));
    }
    // A branch that is in the cache may have been loaded elsewhere in the trie.
    if (depth == kDeepest)
      return base::Error(base::ErrorCode::kCorrupt, "a hash trie is deeper than its hashes");
    const TrieChild& next = std::get_if<TrieBranch>(node)->children[nibble(key, depth)];
    if (!next.may_have(key)) break;
    at.count = next.count;
    at.hash = next.hash;
  }
  return std::optional<base::Bytes>();
}

base::Result<void> HashTrie::check_root(const Blobs& blobs) const {
  // Nothing has one name only, so a size that was changed to 0 shows.
  if ((count_ == 0) != root_.is_zero())
    return base::Error(base::ErrorCode::kCorrupt, "a hash trie is not what it says it is");
  TRY(load(blobs, top(), base::Hash(), 0));
  return {};
}

base::Result<void> HashTrie::visit(const Blobs& blobs, const Visitor& visitor) const {
  TRY(visit_node(blobs, top(), base::Hash(), 0, visitor));
  return {};
}

std::vector<HashTrie::Changes::Change> HashTrie::Changes::in_order() && {
  std::vector<Change> sorted = std::move(list_);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Change& a, const Change& b) { return a.first < b.first; });
  // Of those about one hash the last stays: from behind it is the first.
  const auto same = [](const Change& a, const Change& b) { return a.first == b.first; };
  sorted.erase(sorted.begin(), std::unique(sorted.rbegin(), sorted.rend(), same).base());
  return sorted;
}

base::Result<void> HashTrie::apply(Blobs& blobs, TrieCache& cache, Changes changes) {
  std::vector<Changes::Change> sorted = std::move(changes).in_order();
  const TrieChild made = TRY(Updater(blobs, cache).update(top(), sorted.begin(), sorted.end(), 0));
  root_ = made.hash;
  count_ = made.count;
  return {};
}

}  // namespace holdfast::kernel
