// SPDX-License-Identifier: Apache-2.0
// Worlds with a journal, blobs and snapshots, and snapshots that are small trees of blobs: each
// node is a list of references, each leaf is text. For tests only.
#pragma once

#include <algorithm>

#include "base/sha256.h"
#include "store/blob_gc.h"
#include "store/testing_blobs.h"

namespace holdfast::store::testing {

struct OpenSnapshots {
  std::unique_ptr<OpenWorld> world;
  std::unique_ptr<BlobStore> blobs;
  std::unique_ptr<Snapshots> snapshots;

  Journal& journal() { return world->journal(); }
};

inline base::Result<std::unique_ptr<OpenSnapshots>> open_snapshots(
    env::Disk& disk, env::Random& random, const std::string& path = "./world") {
  auto open = std::make_unique<OpenSnapshots>();
  open->world = TRY(open_world(disk, random, path, small_segments()));
  open->blobs = TRY(BlobStore::open(open->world->folder));
  open->snapshots = TRY(Snapshots::open(*open->blobs));
  return open;
}

// The same world with its blobs, and so its snapshots, as they are on another disk.
inline env::DiskState with_blobs_of(env::DiskState state, const env::DiskState& other) {
  for (const auto& [name, file] : other.names) {
    if (name.find("/blobs.db") == std::string::npos) continue;
    const std::uint64_t copy = state.files.empty() ? 1 : state.files.rbegin()->first + 1;
    state.names[name] = copy;
    state.files[copy] = other.files.at(file);
  }
  return state;
}

inline constexpr std::uint8_t kNode = 1;

inline base::Bytes node_bytes(const std::vector<BlobReference>& references) {
  base::Bytes bytes;
  for (const BlobReference& each : references) {
    bytes.push_back(each.kind);
    bytes.insert(bytes.end(), each.hash.bytes.begin(), each.hash.bytes.end());
  }
  return bytes;
}

inline base::Result<std::vector<BlobReference>> node_references(std::uint8_t kind,
                                                                base::ByteView bytes) {
  EXPECT_EQ(kind, kNode);
  std::vector<BlobReference> references;
  for (; bytes.size() >= 33; bytes = bytes.subspan(33)) {
    BlobReference& each = references.emplace_back();
    each.kind = bytes[0];
    std::ranges::copy(bytes.subspan(1, 32), each.hash.bytes.begin());
  }
  if (!bytes.empty()) return base::Error(base::ErrorCode::kCorrupt, "this is no node");
  return references;
}

inline BlobShapes tree_shapes() { return {kNode, node_references}; }

// The tree of a state: its leaves change at different speeds, and come back to what they were, so
// that trees share leaves and what was garbage is put again.
inline constexpr std::size_t kLeaves = 6;
inline base::Bytes leaf_bytes(std::size_t state, std::size_t leaf) {
  return blob_bytes(100 * leaf + state / (leaf + 1) % 3);
}

// Puts what the tree of a state consists of, and gives its root's bytes, which are not put.
inline base::Result<base::Bytes> put_tree(BlobStore& blobs, std::size_t state) {
  std::vector<BlobReference> below;
  std::vector<BlobReference> top;
  for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
    const base::Hash hash = TRY(blobs.put(leaf_bytes(state, leaf)));
    (leaf % 2 == 0 ? below : top).push_back({hash, BlobReference::kPlain});
  }
  top.push_back({TRY(blobs.put(node_bytes(below))), kNode});
  return node_bytes(top);
}

// One more record, and the snapshot of a state after it.
inline base::Result<SnapshotEntry> add_tree(OpenSnapshots& open, std::size_t state) {
  TRY(commit_batch(open.journal(), 1, 700));
  const base::Bytes root = TRY(put_tree(*open.blobs, state));
  return open.snapshots->add(open.journal(), open.journal().durable() + 1, root,
                             static_cast<std::int64_t>(state));
}

// Everything that the blob reaches can be read.
inline base::Result<void> walk(BlobStore& blobs, const BlobReference& from) {
  const base::Bytes bytes = TRY(blobs.get(from.hash));
  if (from.kind == BlobReference::kPlain) return {};
  for (const BlobReference& each : TRY(node_references(from.kind, bytes))) TRY(walk(blobs, each));
  return {};
}

inline base::Result<GcProgress> collect(OpenSnapshots& open, std::size_t slice = 3) {
  const auto gc = TRY(BlobGc::begin(*open.blobs, *open.snapshots, tree_shapes()));
  for (;;) {
    const GcProgress progress = TRY(gc->step(slice));
    if (progress.done) return progress;
  }
}

}  // namespace holdfast::store::testing
