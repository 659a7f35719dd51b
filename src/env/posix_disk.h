// SPDX-License-Identifier: Apache-2.0
// The file system of the operating system. Holds nothing itself, so threads may share one.
#pragma once

#include <cstdint>
#include <memory>

#include "env/disk.h"

namespace holdfast::env {

// Who may read the files that it makes.
enum class Readers : std::uint8_t {
  kOwner,    // a world holds keys, and the data of others
  kAnybody,  // as far as the umask lets them
};

std::unique_ptr<Disk> posix_disk(Readers readers = Readers::kOwner);

}  // namespace holdfast::env
