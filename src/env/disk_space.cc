// SPDX-License-Identifier: Apache-2.0
#include "env/disk_space.h"

#include <sys/statvfs.h>

#include "env/system_error.h"

namespace holdfast::env {

base::Result<DiskSpace> disk_space_of(const std::string& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) return system_error(path, "statvfs");
  const std::uint64_t block = status.f_frsize;
  return DiskSpace{status.f_bavail * block, status.f_blocks * block};
}

}  // namespace holdfast::env
