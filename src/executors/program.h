// SPDX-License-Identifier: Apache-2.0
// Program: a file that may be run, as it was when it was allowed. A file that takes its place, or
// is written to, is another one, and is not run: who may write a file decides otherwise what a node
// runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace holdfast::executors {

// What changes with a file. The time of the last change to the inode is part of it, because nobody
// can set that one.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t written_ns = 0;
  std::int64_t changed_ns = 0;

  // False, and errno: the path cannot be looked at. Nothing but a system call, so that a child may
  // do it before it runs the file.
  static bool read(const char* path, FileIdentity& identity, mode_t& mode) noexcept;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct Program {
  std::string path;
  FileIdentity file;

  // kInvalid: the path is not whole, or no file that can be run is there.
  static base::Result<Program> allow(const std::string& path);
};

}  // namespace holdfast::executors
