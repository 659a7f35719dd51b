// SPDX-License-Identifier: Apache-2.0
// Looks at every blob of a world.
#pragma once

#include <functional>

#include "base/errors.h"
#include "store/world_folder.h"

namespace holdfast::store {

// How many blobs there are; 0 where no file is. Each must be what its hash says, and SQLite must
// find nothing wrong with the file; what is wrong goes into `errors`. To be used under the lock of
// the world, while nobody has the blobs open.
base::Result<std::uint64_t> check_blobs(WorldFolder& world, base::Errors& errors);

}  // namespace holdfast::store
