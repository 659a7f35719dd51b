// SPDX-License-Identifier: Apache-2.0
// Disk and File: all that Holdfast asks of a file system, so that a test can be the disk. They
// promise what POSIX promises and no more: what was written may be lost until sync_data() on the
// file, and names that were made, changed or removed until sync_directory() on their folder.
//
// Errors: kUnavailable when the disk is full or there are no descriptors left (which the error
// says: lacks_descriptors), kNotFound when there is no such file, kConflict when a lock is held,
// kIo for everything else, such as a FIFO under the name of a file. A sync that failed must not be
// tried again: the system may have dropped what was written, and then the second try succeeds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "env/file_system.h"

namespace holdfast::env {

enum class OpenMode : std::uint8_t {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // made now; whatever stood under the name is emptied
};

class File {
 public:
  virtual ~File() = default;

  // Fewer bytes than asked only at the end of the file.
  virtual base::Result<std::size_t> read_at(std::uint64_t offset,
                                            std::span<std::uint8_t> into) const = 0;

  // May write less than asked, even nothing when a signal came: see write_all.
  virtual base::Result<std::size_t> write_at(std::uint64_t offset, base::ByteView bytes) = 0;

  // Contents and length survive a power cut after this.
  virtual base::Result<void> sync_data() = 0;

  virtual base::Result<void> truncate(std::uint64_t size) = 0;

  // The file is at least this long, and writing inside it needs no more space.
  virtual base::Result<void> preallocate(std::uint64_t size) = 0;

  virtual base::Result<std::uint64_t> size() const = 0;

  // Whether this path names the file: it may have been renamed or removed since it was opened.
  virtual base::Result<bool> is_at(const std::string& path) const = 0;
};

// Held as long as this lives, and no longer than the process; but children that were forked without
// a new program share it, and keep it when the process dies before it lets go.
class FileLock {
 public:
  virtual ~FileLock() = default;

  // kConflict: the path names another file now, or none, so another process can lock that one. From
  // any thread.
  virtual base::Result<void> check() const = 0;
};

inline constexpr std::string_view kLockLost =
    "was removed or replaced; another process may have locked it";

class Disk {
 public:
  virtual ~Disk() = default;

  virtual base::Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  virtual base::Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual base::Result<void> remove(const std::string& path) = 0;

  // Content if it is there already.
  virtual base::Result<void> make_directory(const std::string& path) = 0;
  virtual base::Result<void> sync_directory(const std::string& path) = 0;

  // Names, not paths, sorted; at most kMaxListed.
  virtual base::Result<std::vector<std::string>> list(const std::string& path) = 0;

  // Refused at once with kConflict when somebody has it, and the message holds what they wrote:
  // `holder` is written into the file for that. The file is never removed.
  virtual base::Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       std::string_view holder) = 0;

  // The same for somebody who may only read: the file must be there, and nothing is written.
  virtual base::Result<std::unique_ptr<FileLock>> lock_to_look(const std::string& path) {
    return lock(path, "somebody who only looks");
  }

  // Locks the folder itself, beside whatever locks the files in it. It stays locked under any name.
  virtual base::Result<std::unique_ptr<FileLock>> lock_folder(const std::string& path) {
    return base::Error(base::ErrorCode::kIo, path, "this disk cannot lock folders");
  }

  // What the place that the path names is on, which must be there.
  virtual base::Result<FileSystem> file_system_of(const std::string&) {
    return FileSystem{FileSystemKind::kLocal, "made up"};
  }
};

inline constexpr std::size_t kMaxListed = 1'000'000;

// All of the bytes, through short writes and signals.
base::Result<void> write_all(File& file, std::uint64_t offset, base::ByteView bytes);

// Exactly so many bytes, or kCorrupt when the file ends before.
base::Result<void> read_all(const File& file, std::uint64_t offset, std::span<std::uint8_t> into);

// The whole file; kTooLarge when it has more than `limit` bytes.
base::Result<base::Bytes> read_file(Disk& disk, const std::string& path, std::size_t limit);

// Under a temporary name first, so that `path` holds all of the bytes or what it held before, and
// durable when this returns.
base::Result<void> replace_file(Disk& disk, const std::string& path, base::ByteView bytes);

// "a/b" of "a/b/c", "." where there is no slash.
std::string parent_of(std::string_view path);

}  // namespace holdfast::env
