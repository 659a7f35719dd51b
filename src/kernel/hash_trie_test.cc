// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "kernel/hash_trie_node.h"
#include "kernel/testing_blobs.h"

namespace holdfast::kernel {
namespace {

using testing::MemoryBlobs;

base::Hash key(int i) { return base::sha256(base::as_bytes(std::to_string(i))); }
base::Bytes entry(int i) {
  return {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8)};
}

HashTrie filled(MemoryBlobs& blobs, std::vector<int> numbers, std::size_t batch) {
  HashTrie index;
  TrieCache cache;
  for (std::size_t at = 0; at < numbers.size(); at += batch) {
    HashTrie::Changes changes;
    for (std::size_t i = at; i < std::min(at + batch, numbers.size()); ++i)
      changes[key(numbers[i])] = entry(numbers[i]);
    EXPECT_TRUE(index.apply(blobs, cache, changes));
  }
  return index;
}

std::vector<int> count_to(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

TEST(HashTrie, the_root_is_the_same_for_any_order_and_any_batches) {
  MemoryBlobs blobs;
  std::vector<int> numbers = count_to(700);
  const base::Hash root = filled(blobs, numbers, 700).root();
  std::mt19937 random(7);
  for (const std::size_t batch : {1u, 3u, 50u, 699u}) {
    std::shuffle(numbers.begin(), numbers.end(), random);
    EXPECT_EQ(filled(blobs, numbers, batch).root(), root) << batch;
  }
}

TEST(HashTrie, what_came_and_went_leaves_no_trace) {
  MemoryBlobs blobs;
  for (const int kept : {0, 1, 31, 32, 33, 100}) {
    const base::Hash root = filled(blobs, count_to(kept), 1000).root();
    HashTrie index = filled(blobs, count_to(600), 100);
    TrieCache cache;
    HashTrie::Changes removals;
    for (int i = kept; i < 600; ++i) removals[key(i)] = std::nullopt;
    ASSERT_TRUE(index.apply(blobs, cache, removals));
    EXPECT_EQ(index.root(), root) << kept;
    EXPECT_EQ(index.size(), static_cast<std::uint64_t>(kept));
  }
}

TEST(HashTrie, every_entry_is_found_and_others_are_not) {
  TrieCache cache;
  MemoryBlobs blobs;
  const HashTrie index = filled(blobs, count_to(500), 77);
  for (int i = 0; i < 500; ++i) {
    const auto found = index.find(blobs, cache, key(i));
    ASSERT_TRUE(found);
    EXPECT_EQ(**found, entry(i));
  }
  EXPECT_FALSE((*index.find(blobs, cache, key(1000))).has_value());
}

TEST(HashTrie, a_key_that_is_not_there_is_seldom_looked_for_in_a_leaf) {
  testing::CountingBlobs blobs;
  HashTrie index;
  HashTrie::Changes changes;
  for (int i = 0; i < 5000; ++i) changes[key(i)] = base::Bytes{1};
  TrieCache writers;
  ASSERT_TRUE(index.apply(blobs, writers, changes));
  TrieCache cache;
  for (int i = 5000; i < 10'000; ++i) ASSERT_FALSE((*index.find(blobs, cache, key(i))).has_value());
  blobs.gets = 0;
  for (int i = 10'000; i < 20'000; ++i)
    ASSERT_FALSE((*index.find(blobs, cache, key(i))).has_value());
  EXPECT_LT(blobs.gets, 50) << "about one in 3000, with twenty marks a leaf";
}

TEST(HashTrie, what_was_written_last_need_not_be_read_to_find_that_a_key_is_not_there) {
  testing::CountingBlobs blobs;
  TrieCache cache;
  HashTrie index;
  for (int round = 0; round < 2; ++round) {
    HashTrie::Changes changes;
    for (int i = 0; i < 5000; ++i) changes[key(5000 * round + i)] = base::Bytes{1};
    ASSERT_TRUE(index.apply(blobs, cache, changes));
  }
  blobs.gets = 0;
  for (int i = 10'000; i < 11'000; ++i)
    ASSERT_FALSE((*index.find(blobs, cache, key(i))).has_value());
  EXPECT_LT(blobs.gets, 5);
}

TEST(HashTrie, a_cache_that_has_turned_over_many_times_still_knows_the_truth) {
  MemoryBlobs blobs;
  TrieCache cache;
  HashTrie index;
  const int rounds = static_cast<int>(TrieCache::kMostBytes / TrieCache::kBranchBytes / 16) * 5;
  for (int i = 0; i < rounds; ++i) {  // each round writes the branches on the way to its key
    HashTrie::Changes changes;
    for (int j = 0; j < 16; ++j) changes[key(16 * i + j)] = entry(i);
    ASSERT_TRUE(index.apply(blobs, cache, changes));
  }
  for (int i = 0; i < rounds; i += 7) EXPECT_EQ(**index.find(blobs, cache, key(16 * i)), entry(i));
  EXPECT_FALSE((*index.find(blobs, cache, key(-1))).has_value());
}

TEST(HashTrie, a_root_and_a_size_that_do_not_go_together_are_found) {
  MemoryBlobs blobs;
  TrieCache cache;
  HashTrie trie;
  ASSERT_TRUE(trie.check_root(blobs));
  HashTrie::Changes changes;
  changes[base::sha256(base::as_bytes("a"))] = base::Bytes{1};
  ASSERT_TRUE(trie.apply(blobs, cache, changes));
  ASSERT_TRUE(trie.check_root(blobs));
  for (const std::uint64_t size : {0u, 2u})
    EXPECT_FALSE(HashTrie(trie.root(), size).check_root(blobs));
  EXPECT_FALSE(HashTrie(base::Hash(), 1).check_root(blobs));
}

// A trie out of nodes that nobody checked: finding, visiting and changing must all refuse it.
void expect_refused(MemoryBlobs& blobs, HashTrie trie, const base::Hash& wanted) {
  TrieCache cache;
  const auto found = trie.find(blobs, cache, wanted);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_FALSE(trie.visit(blobs, [](const base::Hash&, base::ByteView) { return true; }));
  EXPECT_FALSE(trie.apply(blobs, cache, {{wanted, entry(1)}}));
  TrieCache fresh;
  EXPECT_FALSE(trie.apply(blobs, fresh, {{wanted, std::nullopt}}));
}

// A leaf of these entries, and what a branch says of it.
struct MadeLeaf {
  base::Hash hash;
  TrieChild child;  // nothing, if no trie has such a leaf
};
MadeLeaf put_leaf(MemoryBlobs& blobs, const std::vector<int>& numbers) {
  std::map<base::Hash, base::Bytes> sorted;
  for (const int number : numbers) sorted[key(number)] = entry(number);
  std::vector<TrieEntry> entries;
  for (const auto& [each, bytes] : sorted) entries.push_back({each, bytes});
  codec::Buffer out;
  encode_leaf(out, entries);
  const base::Hash hash = *blobs.put(out.view());
  if (entries.size() > HashTrie::kLeafEntries) return {hash, {}};
  return {hash, child_of(entries, hash)};
}

base::Hash put_branch(MemoryBlobs& blobs, const TrieBranch& branch) {
  codec::Buffer out;
  encode_branch(out, branch);
  return *blobs.put(out.view());
}

TEST(HashTrie, a_leaf_with_more_entries_than_a_leaf_has_is_refused) {
  MemoryBlobs blobs;
  const base::Hash root = put_leaf(blobs, count_to(33)).hash;
  EXPECT_FALSE(HashTrie(root, 33).check_root(blobs));
  expect_refused(blobs, HashTrie(root, 33), key(1));
}

TEST(HashTrie, a_branch_with_few_entries_is_refused) {
  MemoryBlobs blobs;
  TrieBranch branch;
  branch.children[nibble(key(1), 0)] = put_leaf(blobs, {1}).child;
  const base::Hash root = put_branch(blobs, branch);
  EXPECT_FALSE(HashTrie(root, 1).check_root(blobs));
  expect_refused(blobs, HashTrie(root, 1), key(1));
}

TEST(HashTrie, a_key_that_belongs_elsewhere_is_refused) {
  MemoryBlobs blobs;
  const TrieChild leaf = put_leaf(blobs, count_to(32)).child;  // they begin with different bits
  TrieBranch branch;
  for (TrieChild& child : branch.children) child = leaf;
  expect_refused(blobs, HashTrie(put_branch(blobs, branch), 32 * 16), key(1));
}

// Branch below branch along one key: what is at the end of its bits cannot be a branch.
TEST(HashTrie, a_branch_deeper_than_the_hashes_is_refused) {
  MemoryBlobs blobs;
  base::Hash below = put_leaf(blobs, count_to(32)).hash;
  for (int depth = 70; depth >= 0; --depth) {
    TrieBranch branch;
    for (TrieChild& child : branch.children) child.hash = below;
    // Counts that go together at every depth, so that only the depth is wrong.
    branch.children[nibble(key(1), static_cast<std::size_t>(depth) % 64)].count = 33;
    below = put_branch(blobs, branch);
  }
  ASSERT_TRUE(HashTrie(below, 33).check_root(blobs));
  expect_refused(blobs, HashTrie(below, 33), key(1));
}

// A branch whose first child says that it has so many entries, with so many bytes of marks.
base::Bytes branch_with_marks(std::uint64_t count, std::size_t bytes) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 1 + 3 * 16);
  codec::write_nat(out, 1);
  for (int child = 0; child < 16; ++child) {
    codec::write_nat(out, child == 0 ? count : 0);
    codec::write_bytes(out, key(1).bytes);
    codec::write_bytes(out, base::Bytes(child == 0 ? bytes : 0));
  }
  return out.to_bytes();
}

TEST(HashTrie, marks_that_are_not_those_of_a_leaf_are_refused) {
  EXPECT_TRUE(decode_trie_node(branch_with_marks(3, 6)));
  EXPECT_TRUE(decode_trie_node(branch_with_marks(32, 64)));
  EXPECT_TRUE(decode_trie_node(branch_with_marks(33, 0)));
  EXPECT_FALSE(decode_trie_node(branch_with_marks(3, 4)));
  EXPECT_FALSE(decode_trie_node(branch_with_marks(3, 0)));
  EXPECT_FALSE(decode_trie_node(branch_with_marks(33, 66)));
  EXPECT_FALSE(decode_trie_node(branch_with_marks(33, 64)));
}

TEST(HashTrie, a_small_leaf_stays_in_the_cache_and_a_large_one_does_not) {
  for (const std::size_t size : {std::size_t{10}, TrieCache::kMostLeafBytes}) {
    testing::CountingBlobs blobs;
    TrieCache cache;
    HashTrie index;
    ASSERT_TRUE(index.apply(blobs, cache, {{key(1), base::Bytes(size)}}));
    blobs.gets = 0;
    for (int i = 0; i < 10; ++i) EXPECT_EQ((*index.find(blobs, cache, key(1)))->size(), size);
    EXPECT_EQ(blobs.gets, size == 10 ? 1 : 10);
  }
}

TEST(HashTrie, the_cache_is_bounded_by_bytes) {
  MemoryBlobs blobs;
  TrieCache cache;
  const std::size_t size = TrieCache::kMostLeafBytes - 100;
  std::vector<base::Hash> roots;
  for (int i = 0; i < 600; ++i) {  // 37 MB, in far fewer nodes than a generation has of branches
    HashTrie index;
    ASSERT_TRUE(index.apply(blobs, cache, {{key(i), base::Bytes(size)}}));
    ASSERT_TRUE(index.find(blobs, cache, key(i)));
    roots.push_back(index.root());
  }
  EXPECT_EQ(cache.find(roots.front()), nullptr);
  EXPECT_NE(cache.find(roots.back()), nullptr);
}

TEST(HashTrie, a_missing_blob_is_an_error_and_changes_nothing) {
  TrieCache cache;
  MemoryBlobs blobs;
  HashTrie index = filled(blobs, count_to(500), 500);
  const base::Hash root = index.root();
  MemoryBlobs empty;
  EXPECT_FALSE(index.find(empty, cache, key(1)));
  EXPECT_FALSE(index.apply(empty, cache, {{key(1), entry(9)}}));
  EXPECT_EQ(index.root(), root);
}

}  // namespace
}  // namespace holdfast::kernel
