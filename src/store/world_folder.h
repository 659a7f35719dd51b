// SPDX-License-Identifier: Apache-2.0
// WorldFolder: the folder of a world, ours alone while this lives.
//
//   LOCK      held by one process; says which. Never removed. The folder itself is locked as well,
//   so
//             that no other process can open the world after LOCK was removed.
//   WORLD     the id of the world, whether its journal was begun (a world that lost its journal is
//             refused and not begun again), and the backups that it was restored from.
//   journal/  see docs/formats/journal.md
#pragma once

#include <memory>
#include <string>

#include "env/disk.h"
#include "env/process.h"
#include "env/random.h"
#include "store/journal_format.h"
#include "store/world_file.h"

namespace holdfast::store {

// There while the world is being made out of a damaged one, by store/salvage.h.
inline constexpr const char* kSalvagingFile = "SALVAGING";

// There while the world is being restored from a backup, by store/restore_backup.h.
inline constexpr const char* kRestoringFile = "RESTORING";

class WorldFolder {
 public:
  // Makes the folder if there is none; the one around it must be there. kConflict: another process
  // has it, and the message says which; or it was to be made by a salvage that was interrupted.
  static base::Result<WorldFolder> open(env::Disk& disk, env::Random& random, env::Process& process,
                                        std::string path);

  const std::string& path() const noexcept { return path_; }
  std::string journal_path() const { return path_ + "/journal"; }
  const JournalId& id() const noexcept { return file_.id; }
  env::Disk& disk() const noexcept { return *disk_; }
  env::Random& random() const noexcept { return *random_; }

  // That the path still leads to this folder and to the LOCK that we hold. kConflict: it does not,
  // and the world may be another process's now. From any thread.
  base::Result<void> check_ours() const { return lock_->check(); }

  bool is_begun() const noexcept { return file_.is_begun; }

  // The backups that it was restored from, from the oldest.
  const std::vector<Restored>& restored() const noexcept { return file_.restored; }
  std::uint32_t life() const noexcept { return file_.life(); }
  base::Result<void> set_begun();

 private:
  WorldFolder(env::Disk& disk, env::Random& random, std::string path)
      : disk_(&disk), random_(&random), path_(std::move(path)) {}

  base::Result<void> read_or_make();
  base::Result<void> write() const;

  env::Disk* disk_;
  env::Random* random_;
  std::string path_;
  std::unique_ptr<env::FileLock> folder_lock_;  // null on a network file system
  std::unique_ptr<env::FileLock> lock_;
  WorldFile file_;
};

// The id of the world in the folder, without opening it.
base::Result<JournalId> read_world_id(env::Disk& disk, const std::string& path);

}  // namespace holdfast::store
