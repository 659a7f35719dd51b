// SPDX-License-Identifier: Apache-2.0
// SimDisk: a disk in memory. It behaves as a Linux file system does before a power cut, records
// every operation so that env/crash.h can tell what the cut may leave, and fails when it is told
// to: a sync that fails drops what it should have saved and the next one succeeds. For one thread.
// A process that dies is a caller that forgets its files and locks.
#pragma once

#include <optional>

#include "env/disk.h"
#include "env/disk_state.h"

namespace holdfast::env {

enum class DiskFault : std::uint8_t {
  kIoError,        // half of a write arrives
  kNoSpace,        // half of a write arrives
  kInterrupted,    // a signal: a write does nothing, a sync fails
  kShort,          // half of a write arrives, and is said to have; other calls succeed
  kNoDescriptors,  // for a call that makes a file: it is not opened
};

class SimDisk : public Disk {
 public:
  SimDisk();  // holds the folder "." and nothing else
  explicit SimDisk(DiskState start);
  ~SimDisk() override;

  base::Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  base::Result<void> rename(const std::string& from, const std::string& to) override;
  base::Result<void> remove(const std::string& path) override;
  base::Result<void> make_directory(const std::string& path) override;
  base::Result<void> sync_directory(const std::string& path) override;
  base::Result<std::vector<std::string>> list(const std::string& path) override;
  base::Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                               std::string_view holder) override;
  base::Result<std::unique_ptr<FileLock>> lock_to_look(const std::string& path) override;
  base::Result<std::unique_ptr<FileLock>> lock_folder(const std::string& path) override;

  // What the disk held at first, all that was done since, and what a reader sees now.
  const DiskState& start() const;
  const std::vector<DiskOperation>& operations() const;
  const DiskState& now() const;

  // The same disk, files and pending operations and all, as the next process finds it when this one
  // dies now: what the dying one still does, when its objects are destroyed, is not seen there.
  std::unique_ptr<SimDisk> after_process_death() const;

  // The call after `after` more of those that change something fails, once.
  void fail_call(std::uint64_t after, DiskFault fault);

  // Calls so far that change something, syncs included.
  std::uint64_t changing_calls() const;

  // What the disk says that it is.
  void set_file_system(FileSystem system);
  base::Result<FileSystem> file_system_of(const std::string& path) override;

  // Files may hold so many bytes together.
  void set_capacity(std::optional<std::uint64_t> bytes);

  struct Body;

 private:
  std::shared_ptr<Body> body_;  // shared with open files and locks
};

}  // namespace holdfast::env
