// SPDX-License-Identifier: Apache-2.0
#include "store/place.h"

#include <utility>

namespace holdfast::store {

base::Result<void> check_place(env::Disk& disk, const std::string& path) {
  auto found = disk.file_system_of(path);
  if (!found && found.error().code() == base::ErrorCode::kNotFound)
    found = disk.file_system_of(env::parent_of(path));
  const env::FileSystem system = TRY(std::move(found));
  const auto unfit = [&](const char* why) {
    return base::Error(base::ErrorCode::kConflict, path,
                       "is on a file system (" + system.name + ") that " + why);
  };
  switch (system.kind) {
    case env::FileSystemKind::kNetwork:
      return unfit("another machine keeps: locks and syncs may not hold there");
    case env::FileSystemKind::kOverlay: return unfit("is gone with its container");
    case env::FileSystemKind::kMemory: return unfit("is gone when the machine stops");
    case env::FileSystemKind::kLocal: break;
  }
  return {};
}

}  // namespace holdfast::store
