// SPDX-License-Identifier: Apache-2.0
#include "store/folder_backup.h"

#include <string>
#include <utility>

#include "store/journal_witness.h"

namespace holdfast::store {

base::Result<FolderBackup> FolderBackup::open(WorldFolder& world) {
  JournalFiles journal = TRY(JournalFiles::open(world));
  // Such a backup could not be restored, and would take the place of one that can.
  if (std::string lost = describe_lost_records(world, journal.last()); !lost.empty())
    return base::Error(base::ErrorCode::kCorrupt, world.journal_path(), std::move(lost));
  return FolderBackup(world, std::move(journal));
}

base::Result<bool> FolderBackup::visit_database(const std::string& name, Step step,
                                                const Between& between) {
  return visit_closed_database(WorldPlace::of(*world_), name, std::move(step), between);
}

base::Result<bool> visit_closed_database(const WorldPlace& world, const std::string& name,
                                         BackupSource::Step step,
                                         const BackupSource::Between& between) {
  const auto look = TRY(DatabaseLook::open(world, name));
  if (!look) return false;
  const BackupSource::Step own = std::move(step);  // goes before the database does
  while (TRY(own(look->database()))) TRY(between());
  return true;
}

}  // namespace holdfast::store
