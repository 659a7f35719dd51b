// SPDX-License-Identifier: Apache-2.0
// LookingDisk: a disk in front of another one, on which nothing can be changed. Whoever insists on
// making a file gets one that is empty and stays so: SQLite does that before it reads.
#pragma once

#include "env/disk.h"

namespace holdfast::store {

class LookingDisk : public env::Disk {
 public:
  // The disk must outlive it.
  explicit LookingDisk(env::Disk& disk) : disk_(disk) {}

  base::Result<std::unique_ptr<env::File>> open(const std::string& path,
                                                env::OpenMode mode) override;
  base::Result<void> rename(const std::string& from, const std::string& to) override;
  base::Result<void> remove(const std::string& path) override;
  base::Result<void> make_directory(const std::string& path) override;
  base::Result<void> sync_directory(const std::string& path) override;
  base::Result<std::vector<std::string>> list(const std::string& path) override;
  base::Result<std::unique_ptr<env::FileLock>> lock(const std::string& path,
                                                    std::string_view holder) override;

 private:
  env::Disk& disk_;
};

}  // namespace holdfast::store
