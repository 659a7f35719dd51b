// SPDX-License-Identifier: Apache-2.0
// OfflineWorld: a world that is there already and that no other process has, with its blobs and
// snapshots, for commands that work on it while no node runs.
#pragma once

#include <memory>
#include <string>

#include "env/posix_disk.h"
#include "env/process.h"
#include "env/random.h"
#include "store/snapshots.h"

namespace holdfast::cli {

class OfflineWorld {
 public:
  // kNotFound: there is no world at the path. kConflict: another process has it, and the message
  // says which.
  static base::Result<std::unique_ptr<OfflineWorld>> open(const std::string& path);

  store::BlobStore& blobs() noexcept { return *blobs_; }
  store::Snapshots& snapshots() noexcept { return *snapshots_; }

 private:
  OfflineWorld() = default;

  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::unique_ptr<store::WorldFolder> folder_;
  std::unique_ptr<store::BlobStore> blobs_;
  std::unique_ptr<store::Snapshots> snapshots_;
};

}  // namespace holdfast::cli
