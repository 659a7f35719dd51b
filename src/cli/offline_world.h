// SPDX-License-Identifier: Apache-2.0
// OfflineWorld: a world that is there already and that no other process has, with its blobs and
// snapshots, for commands that work on it while no node runs.
#pragma once

#include <memory>
#include <string>

#include "cli/existing_world.h"
#include "store/snapshots.h"

namespace holdfast::cli {

class OfflineWorld {
 public:
  // kNotFound: there is no world at the path. kConflict: another process has it, and the message
  // says which.
  static base::Result<std::unique_ptr<OfflineWorld>> open(const std::string& path);

  store::WorldFolder& folder() noexcept { return world_->folder(); }
  store::BlobStore& blobs() noexcept { return *blobs_; }
  store::Snapshots& snapshots() noexcept { return *snapshots_; }

 private:
  OfflineWorld() = default;

  std::unique_ptr<ExistingWorld> world_;
  std::unique_ptr<store::BlobStore> blobs_;
  std::unique_ptr<store::Snapshots> snapshots_;
};

}  // namespace holdfast::cli
