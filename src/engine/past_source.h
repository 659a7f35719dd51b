// SPDX-License-Identifier: Apache-2.0
// What a past world is read from beside the one that runs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "node/local_world.h"
#include "node/past_world.h"

namespace holdfast::engine {

// The snapshots that past worlds are read from stay while they are read.
class PinnedSnapshots {
 public:
  explicit PinnedSnapshots(node::LocalWorld& world) : world_(world) {}
  ~PinnedSnapshots();
  PinnedSnapshots(const PinnedSnapshots&) = delete;
  PinnedSnapshots& operator=(const PinnedSnapshots&) = delete;

  // Those that a world behind this record may begin with, the nearest first, so many at most. The
  // others are free to go.
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  base::Result<std::vector<store::SnapshotEntry>> list(std::uint64_t record, std::size_t most);

 private:
  node::LocalWorld& world_;
  std::vector<std::unique_ptr<store::Snapshots::Pin>> pins_;
};

// One blob at a time, so that the world waits for one at most.
node::PastSource source_of(node::LocalWorld& world, std::vector<store::SnapshotEntry> snapshots);

}  // namespace holdfast::engine
