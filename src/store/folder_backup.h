// SPDX-License-Identifier: Apache-2.0
// FolderBackup: a world that no process runs, as the source of a backup. To be used under the lock
// of the world, which the WorldFolder holds. Nothing of the world is changed.
#pragma once

#include <string>

#include "store/backup.h"
#include "store/database_look.h"
#include "store/journal_files.h"

namespace holdfast::store {

class FolderBackup : public BackupSource {
 public:
  // kCorrupt: the journal is damaged. The world must outlive it.
  static base::Result<FolderBackup> open(WorldFolder& world);

  env::Disk& disk() override { return world_->disk(); }
  const std::string& path() const override { return world_->path(); }
  const JournalId& id() const override { return world_->id(); }
  RecordNumber first() const override { return journal_.first(); }
  RecordNumber last() override { return journal_.last(); }
  base::Result<bool> visit_database(const std::string& name, Step step,
                                    const Between& between) override;
  base::Result<void> check() override { return {}; }

 private:
  FolderBackup(WorldFolder& world, JournalFiles journal)
      : world_(&world), journal_(std::move(journal)) {}

  WorldFolder* world_;
  JournalFiles journal_;
};

// The same for one database that nobody has open.
base::Result<bool> visit_closed_database(const WorldPlace& world, const std::string& name,
                                         BackupSource::Step step,
                                         const BackupSource::Between& between);

}  // namespace holdfast::store
