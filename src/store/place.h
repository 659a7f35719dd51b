// SPDX-License-Identifier: Apache-2.0
// Whether a folder is a place for a world. To be asked where a world is begun or served, before
// anything is promised; a person may decide otherwise.
#pragma once

#include "env/file_system.h"

namespace holdfast::store {

// kConflict: the file system cannot keep what we promise, and the message says why.
inline base::Result<void> check_place(const std::string& path, const env::FileSystem& system) {
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
