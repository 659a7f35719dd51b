// SPDX-License-Identifier: Apache-2.0
#include "cli/offline_world.h"

namespace holdfast::cli {

base::Result<std::unique_ptr<OfflineWorld>> OfflineWorld::open(const std::string& path) {
  std::unique_ptr<OfflineWorld> world(new OfflineWorld);
  world->world_ = TRY(ExistingWorld::open(path));
  world->blobs_ = TRY(store::BlobStore::open(world->world_->folder()));
  world->snapshots_ = TRY(store::Snapshots::open(*world->blobs_));
  return world;
}

}  // namespace holdfast::cli
