// SPDX-License-Identifier: Apache-2.0
// Program: a file that may be run, as it was when it was allowed. A file that takes its place, or
// is written to, is another one, and is not run: who may write a file decides otherwise what a node
// runs.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "env/descriptor.h"

namespace holdfast::executors {

// What changes with a file. The time of the last change to the inode is part of it, because nobody
// can set that one.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t written_ns = 0;
  std::int64_t changed_ns = 0;

  static FileIdentity of(const struct stat& found) noexcept;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct Program {
  std::string path;
  FileIdentity file;
  std::optional<base::Hash> contents;  // none: we may run it, but not read it

  // kInvalid: the path is not whole, or no file that can be run is there.
  static base::Result<Program> allow(const std::string& path);

  // The file at the path, opened once, to be run from this descriptor: whatever the path names
  // afterwards does not matter. kCorrupt: it is not the file that was allowed. A new link, owner or
  // mode changes only the inode: then the contents are compared, and `file` is as it is now.
  base::Result<env::Descriptor> open();
};

}  // namespace holdfast::executors
