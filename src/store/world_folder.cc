// SPDX-License-Identifier: Apache-2.0
#include "store/world_folder.h"

#include <algorithm>
#include <utility>

#include "store/segment_files.h"

namespace holdfast::store {
namespace {

// The lock on the folder outlives LOCK, which people remove. Whoever finds it taken is told by
// whom.
base::Result<std::unique_ptr<env::FileLock>> lock_world(env::Disk& disk, const std::string& path) {
  // A network file system locks only what is open for writing, which a folder never is. A world is
  // there because somebody has decided that LOCK will do.
  const env::FileSystem system = TRY(disk.file_system_of(path));
  if (system.kind == env::FileSystemKind::kNetwork) return std::unique_ptr<env::FileLock>();
  auto folder = disk.lock_folder(path);
  if (folder || folder.error().code() != base::ErrorCode::kConflict) return folder;
  auto file = disk.lock_to_look(path + "/LOCK");
  if (!file && file.error().code() == base::ErrorCode::kConflict) return std::move(file).error();
  return base::Error(base::ErrorCode::kConflict, path,
                     "is held by a process whose LOCK was removed or replaced; stop that process "
                     "before you open the world");
}

}  // namespace

base::Result<WorldFolder> WorldFolder::open(env::Disk& disk, env::Random& random,
                                            env::Process& process, std::string path) {
  // With a slash at the end, the folder around it would be taken for the folder itself.
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  WorldFolder world(disk, random, path);
  TRY(disk.make_directory(path));
  TRY(disk.sync_directory(env::parent_of(path)));
  world.folder_lock_ = TRY(lock_world(disk, path));
  world.lock_ = TRY(disk.lock(path + "/LOCK", env::describe(process)));
  if (std::ranges::binary_search(TRY(disk.list(path)), kSalvagingFile)) {
    return base::Error(base::ErrorCode::kConflict, path,
                       "is half of a salvage, which was interrupted; salvage into another folder");
  }
  TRY(disk.make_directory(world.journal_path()));
  TRY(disk.sync_directory(path));
  TRY(world.read_or_make());
  return world;
}

base::Result<void> WorldFolder::read_or_make() {
  if (std::ranges::binary_search(TRY(disk_->list(path_)), kRestoringFile)) {
    return base::Error(base::ErrorCode::kConflict, path_,
                       "is not whole: a restore into it was interrupted; remove it and restore "
                       "again");
  }
  auto file = read_world_file(*disk_, path_);
  if (file) {
    file_ = std::move(*file);
    return {};
  }
  if (file.error().code() != base::ErrorCode::kNotFound) return std::move(file).error();
  for (const std::string& name : TRY(disk_->list(journal_path()))) {
    if (segment_number(name))
      return corrupt_at(path_ + "/WORLD", 0, "the file is not there, but there is a journal");
  }
  random_->fill(file_.id);
  return write();
}

base::Result<JournalId> read_world_id(env::Disk& disk, const std::string& path) {
  return TRY(read_world_file(disk, path)).id;
}

base::Result<void> WorldFolder::write() const {
  return env::replace_file(*disk_, path_ + "/WORLD", encode(file_));
}

base::Result<void> WorldFolder::set_begun() {
  if (file_.is_begun) return {};
  file_.is_begun = true;
  return write();
}

}  // namespace holdfast::store
