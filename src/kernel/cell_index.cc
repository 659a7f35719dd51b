// SPDX-License-Identifier: Apache-2.0
#include "kernel/cell_index.h"

#include <utility>

#include "base/check.h"
#include "kernel/cell_index_node.h"

namespace holdfast::kernel {
namespace {

base::Result<IndexNode> load(const Blobs& blobs, const IndexChild& child) {
  if (child.count == 0) return IndexNode(IndexLeaf{});
  const base::Bytes bytes = TRY(blobs.get(child.hash));
  return decode_index_node(bytes);
}

base::Result<IndexChild> save(Blobs& blobs, const IndexNode& node, std::uint64_t count) {
  if (count == 0) return IndexChild{};
  return IndexChild{count, TRY(blobs.put(encode(node)))};
}

// Recurses at most once per four bits of a hash.
base::Result<bool> visit_node(const Blobs& blobs, const IndexChild& at,
                              const CellIndex::Visitor& visitor) {
  const IndexNode node = TRY(load(blobs, at));
  if (const auto* leaf = std::get_if<IndexLeaf>(&node)) {
    for (const auto& [key, entry] : leaf->entries) {
      if (!visitor(key, entry)) return false;
    }
    return true;
  }
  for (const IndexChild& child : std::get_if<IndexBranch>(&node)->children) {
    if (child.count == 0) continue;
    const bool more = TRY(visit_node(blobs, child, visitor));
    if (!more) return false;
  }
  return true;
}

class Updater {
 public:
  using Change = CellIndex::Changes::const_iterator;

  explicit Updater(Blobs& blobs) : blobs_(blobs) {}

  // The changes all agree with `at` in the bits above `depth`.
  base::Result<IndexChild> update(const IndexChild& at, Change begin, Change end,
                                  std::size_t depth) {
    if (begin == end) return at;
    IndexNode node = TRY(load(blobs_, at));
    if (auto* leaf = std::get_if<IndexLeaf>(&node)) {
      for (Change change = begin; change != end; ++change) {
        if (change->second) {
          leaf->entries[change->first] = *change->second;
        } else {
          leaf->entries.erase(change->first);
        }
      }
      return build(std::move(leaf->entries), depth);
    }
    auto& branch = *std::get_if<IndexBranch>(&node);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < branch.children.size(); ++i) {
      Change stop = begin;
      while (stop != end && nibble(stop->first, depth) == i) ++stop;
      branch.children[i] = TRY(update(branch.children[i], begin, stop, depth + 1));
      count += branch.children[i].count;
      begin = stop;
    }
    if (count > CellIndex::kLeafEntries) return save(blobs_, node, count);
    return gather(branch);
  }

 private:
  using Entries = std::map<base::Hash, base::Bytes>;

  base::Result<IndexChild> build(Entries entries, std::size_t depth) {
    const std::uint64_t count = entries.size();
    if (count <= CellIndex::kLeafEntries) return save(blobs_, IndexLeaf{std::move(entries)}, count);
    CHECK(depth < 64);  // two keys with one hash are one key
    std::array<Entries, 16> parts;
    while (!entries.empty()) {
      auto entry = entries.extract(entries.begin());
      Entries& part = parts[nibble(entry.key(), depth)];
      part.insert(part.end(), std::move(entry));
    }
    IndexBranch branch;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      branch.children[i] = TRY(build(std::move(parts[i]), depth + 1));
    }
    return save(blobs_, branch, count);
  }

  // A branch that has become small is a leaf again.
  base::Result<IndexChild> gather(const IndexBranch& branch) {
    Entries entries;
    for (const IndexChild& child : branch.children) {
      if (child.count == 0) continue;
      TRY(visit_node(blobs_, child, [&](const base::Hash& key, base::ByteView entry) {
        entries.emplace_hint(entries.end(), key, base::Bytes(entry.begin(), entry.end()));
        return true;
      }));
    }
    const std::uint64_t count = entries.size();
    return save(blobs_, IndexLeaf{std::move(entries)}, count);
  }

  Blobs& blobs_;
};

}  // namespace

base::Result<std::optional<base::Bytes>> CellIndex::find(const Blobs& blobs,
                                                         const base::Hash& key) const {
  IndexChild at{count_, root_};
  for (std::size_t depth = 0; at.count != 0; ++depth) {
    IndexNode node = TRY(load(blobs, at));
    if (auto* leaf = std::get_if<IndexLeaf>(&node)) {
      const auto found = leaf->entries.find(key);
      if (found == leaf->entries.end()) break;
      return std::optional(std::move(found->second));
    }
    if (depth == 64)
      return base::Error(base::ErrorCode::kCorrupt, "the cell index is deeper than its keys");
    at = std::get_if<IndexBranch>(&node)->children[nibble(key, depth)];
  }
  return std::optional<base::Bytes>();
}

base::Result<void> CellIndex::visit(const Blobs& blobs, const Visitor& visitor) const {
  TRY(visit_node(blobs, {count_, root_}, visitor));
  return {};
}

base::Result<void> CellIndex::apply(Blobs& blobs, const Changes& changes) {
  const IndexChild made =
      TRY(Updater(blobs).update({count_, root_}, changes.begin(), changes.end(), 0));
  root_ = made.hash;
  count_ = made.count;
  return {};
}

}  // namespace holdfast::kernel
