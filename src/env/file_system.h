// SPDX-License-Identifier: Apache-2.0
// What kind of file system a folder is on: on some of them locks and syncs do not mean what they
// say.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace holdfast::env {

enum class FileSystemKind : std::uint8_t {
  kLocal,    // also what we have never heard of
  kMemory,   // gone when the machine stops
  kNetwork,  // another machine decides what is locked and what is durable
  kOverlay,  // the layers of a container: gone with it
};

struct FileSystem {
  FileSystemKind kind = FileSystemKind::kLocal;
  std::string name;  // as people know it: "nfs"; its number where we do not know it
};

// From the number that statfs gives.
FileSystem file_system_from(std::uint64_t magic);

}  // namespace holdfast::env
