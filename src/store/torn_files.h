// SPDX-License-Identifier: Apache-2.0
// What recoveries cut off the journal and kept aside, for people: the newest few.
#pragma once

#include <cstdint>
#include <string>

#include "env/disk.h"

namespace holdfast::store {

inline constexpr std::size_t kTornFilesKept = 8;

// "torn-3-8192"
std::string torn_name(std::uint64_t segment, std::uint64_t offset);

// Removes all but the newest in the folder. Gives how many were removed.
base::Result<std::size_t> remove_old_torn_files(env::Disk& disk, const std::string& folder);

}  // namespace holdfast::store
