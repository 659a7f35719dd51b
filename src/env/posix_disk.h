// SPDX-License-Identifier: Apache-2.0
// The file system of the operating system. Holds nothing itself, so threads may share one.
#pragma once

#include <memory>

#include "env/disk.h"

namespace holdfast::env {

std::unique_ptr<Disk> posix_disk();

}  // namespace holdfast::env
