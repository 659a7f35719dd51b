// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash_trie_node.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "codec/well_formed.h"

namespace holdfast::kernel {
namespace {

constexpr std::uint64_t kLeaf = 0;
constexpr std::uint64_t kBranch = 1;
constexpr std::size_t kMarkBytes = TrieChild::kMarkBytes;

base::Error damaged_node() {
  return {base::ErrorCode::kCorrupt, "a node of a hash trie is damaged"};
}

bool read_hash(codec::View view, base::Hash& hash) {
  const auto bytes = view.bytes();
  if (!bytes || bytes->size() != hash.bytes.size()) return false;
  std::copy(bytes->begin(), bytes->end(), hash.bytes.begin());
  return true;
}

}  // namespace

void encode_leaf(codec::Buffer& out, std::span<const TrieEntry> entries) {
  out.clear();
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 1 + 2 * entries.size());
  codec::write_nat(out, kLeaf);
  for (const TrieEntry& entry : entries) {
    codec::write_bytes(out, entry.key.bytes);
    codec::write_bytes(out, entry.bytes);
  }
}

void encode_branch(codec::Buffer& out, const TrieBranch& branch) {
  out.clear();
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 1 + 3 * branch.children.size());
  codec::write_nat(out, kBranch);
  for (const TrieChild& child : branch.children) {
    codec::write_nat(out, child.count);
    codec::write_bytes(out, child.hash.bytes);
    codec::write_bytes(out, child.marks());
  }
}

const TrieEntry* TrieLeaf::find(const base::Hash& key) const {
  const auto found = std::ranges::lower_bound(entries, key, {}, &TrieEntry::key);
  return found != entries.end() && found->key == key ? &*found : nullptr;
}

base::Result<TrieNode> decode_trie_node(base::Bytes bytes) {
  if (!codec::is_well_formed(bytes)) return damaged_node();
  const auto kept = std::make_shared<const base::Bytes>(std::move(bytes));
  const codec::View list = codec::View::of(*kept);
  const auto elements = list.elements();
  auto at = elements.begin();
  if (at == elements.end()) return damaged_node();
  const auto kind = (*at).nat();
  ++at;
  if (kind == kLeaf) {
    if (list.size() % 2 != 1) return damaged_node();
    TrieLeaf leaf{.bytes = kept};
    leaf.entries.reserve(list.size() / 2);
    while (at != elements.end()) {
      base::Hash key;
      if (!read_hash(*at, key)) return damaged_node();
      ++at;
      const auto entry = (*at).bytes();
      if (!entry || (!leaf.entries.empty() && leaf.entries.back().key >= key))
        return damaged_node();
      leaf.entries.push_back({key, *entry});
      ++at;
    }
    return TrieNode(std::move(leaf));
  }
  TrieBranch branch;
  if (kind != kBranch || list.size() != 1 + 3 * branch.children.size()) return damaged_node();
  for (TrieChild& child : branch.children) {
    const auto count = (*at).nat();
    ++at;
    if (!count || !read_hash(*at, child.hash)) return damaged_node();
    child.count = *count;
    ++at;
    const auto marks = (*at).bytes();
    if (!marks || marks->size() != child.marks().size()) return damaged_node();
    std::copy(marks->begin(), marks->end(), child.mark_bytes.begin());
    ++at;
  }
  return TrieNode(branch);
}

bool TrieChild::may_have(const base::Hash& key) const noexcept {
  if (!is_leaf()) return true;
  const std::uint8_t* last = key.bytes.end() - kMarkBytes;
  const base::ByteView all = marks();
  for (std::size_t i = 0; i < all.size(); i += kMarkBytes) {
    if (std::memcmp(&all[i], last, kMarkBytes) == 0) return true;
  }
  return false;
}

TrieChild child_of(std::span<const TrieEntry> leaf, const base::Hash& hash) {
  TrieChild child{leaf.size(), hash, {}};
  CHECK(child.is_leaf());
  auto* mark = child.mark_bytes.begin();
  for (const TrieEntry& entry : leaf)
    mark = std::copy(entry.key.bytes.end() - kMarkBytes, entry.key.bytes.end(), mark);
  return child;
}

std::size_t nibble(const base::Hash& key, std::size_t depth) noexcept {
  const std::uint8_t byte = key.bytes[depth / 2];
  return depth % 2 == 0 ? byte >> 4 : byte & 15;
}

base::Hash with_nibble(base::Hash key, std::size_t depth, std::size_t nibble) noexcept {
  std::uint8_t& byte = key.bytes[depth / 2];
  byte = static_cast<std::uint8_t>(depth % 2 == 0 ? (nibble << 4) | (byte & 15)
                                                  : (byte & 0xf0) | nibble);
  return key;
}

}  // namespace holdfast::kernel
