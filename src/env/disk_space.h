// SPDX-License-Identifier: Apache-2.0
// How much room there is where a path is, as the system says it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace holdfast::env {

struct DiskSpace {
  std::uint64_t free_bytes = 0;  // for this process
  std::uint64_t total_bytes = 0;
};

base::Result<DiskSpace> disk_space_of(const std::string& path);

}  // namespace holdfast::env
