// SPDX-License-Identifier: Apache-2.0
#include "cli/offline_world.h"

namespace holdfast::cli {

base::Result<std::unique_ptr<OfflineWorld>> OfflineWorld::open(const std::string& path) {
  std::unique_ptr<OfflineWorld> world(new OfflineWorld);
  // Opening the folder would make a world where there is none.
  const auto there = world->disk_->open(path + "/WORLD", env::OpenMode::kRead);
  if (!there && there.error().code() == base::ErrorCode::kNotFound)
    return base::Error(base::ErrorCode::kNotFound, path, "there is no world");
  if (!there) return base::Error(there.error().code(), path, there.error().message());
  world->folder_ = std::make_unique<store::WorldFolder>(
      TRY(store::WorldFolder::open(*world->disk_, *world->random_, *world->process_, path)));
  world->blobs_ = TRY(store::BlobStore::open(*world->folder_));
  world->snapshots_ = TRY(store::Snapshots::open(*world->blobs_));
  return world;
}

}  // namespace holdfast::cli
