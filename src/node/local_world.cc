// SPDX-License-Identifier: Apache-2.0
#include "node/local_world.h"

#include <utility>

#include "store/place.h"

namespace holdfast::node {

base::Result<std::unique_ptr<LocalWorld>> LocalWorld::open(env::Disk& disk, env::Random& random,
                                                           env::Process& process,
                                                           const std::string& path,
                                                           const kernel::MachineSource& machines,
                                                           const LocalWorldOptions& options) {
  if (!options.any_file_system) TRY(store::check_place(disk, path));
  store::WorldFolder folder = TRY(store::WorldFolder::open(disk, random, process, path));
  std::unique_ptr<LocalWorld> open(new LocalWorld(std::move(folder)));
  open->opened_ = TRY(store::open_file_journal(open->folder_, options.journal));
  open->blobs_ = TRY(store::BlobStore::open(open->folder_));
  open->snapshots_ = TRY(store::Snapshots::open(*open->blobs_));
  open->kernel_blobs_ = std::make_unique<StoreBlobs>(*open->blobs_);
  open->restored_.emplace(TRY(
      restore(machines, *open->kernel_blobs_, *open->snapshots_, open->journal(), options.world)));
  return open;
}

}  // namespace holdfast::node
