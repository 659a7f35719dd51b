// SPDX-License-Identifier: Apache-2.0
// Backup: a consistent copy of a world, also of one that runs.
//
// The order is what makes it consistent. (1) The records of the journal are pinned. (2) The
// databases that name records are copied: snapshots, index, seals. (3) The end of the backup is
// the last record that is durable then, so it is not before anything that they name; the segments
// are copied up to it. (4) The blobs that workflows put are copied last, so that every receipt in
// the copied records has its blob.
//
// Promises:
//  1. Everything that was durable when it began is in it.
//  2. The folder holds a finished backup, or none: what a new one needs stands beside the old one
//     until its manifest replaces the old manifest, durably. A crash leaves the old one.
//  3. Repeated into the same folder, it copies no finished segment again that is there and whole.
//     The databases, the last segment and the small files are copied each time.
//  4. Every file is read back and compared before the manifest is written.
//  5. No error of it changes the world.
//
// What is copied is in docs/formats/backup.md. One at a time in a folder, which is locked.
#pragma once

#include <functional>
#include <string>

#include "env/process.h"
#include "env/random.h"
#include "store/backup_manifest.h"
#include "store/sqlite.h"

namespace holdfast::store {

// The world that is backed up.
class BackupSource {
 public:
  virtual ~BackupSource() = default;

  virtual env::Disk& disk() = 0;
  virtual const std::string& path() const = 0;  // of its folder
  virtual const JournalId& id() const = 0;

  // The first record that is there and stays until this is gone.
  virtual RecordNumber first() const = 0;

  // The last durable record now.
  virtual RecordNumber last() = 0;

  // Calls `step` until it gives false, each time while nobody else uses the database, and `between`
  // after a step, while others may. False: there is no such database. `step` owns what it needs of
  // the database, and is let go of while nobody else uses that.
  using Step = std::function<base::Result<bool>(SqliteDatabase& database)>;
  using Between = std::function<base::Result<void>()>;
  virtual base::Result<bool> visit_database(const std::string& name, Step step,
                                            const Between& between) = 0;

  // An error: the records from first() on are not there any more.
  virtual base::Result<void> check() = 0;
};

struct BackupPlace {
  env::Disk& disk;
  env::Random& random;
  env::Process& process;
  std::string path;  // the folder around it must be there
};

struct BackupOptions {
  std::uint64_t time_ns = 0;

  // Told how many bytes were copied, compared, or found to be there already, and about how many
  // there are in all. An error ends the backup. To wait inside slows it down.
  std::function<base::Result<void>(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct BackupReport {
  BackupManifest manifest;
  std::uint64_t copied_bytes = 0;   // into the folder
  std::uint64_t kept_segments = 0;  // that were there from an earlier backup
};

// kConflict: the folder holds a backup of another world, or is no backup, or another process works
// on it. kUnavailable: there is no room for it. kCorrupt: the world is damaged, and where.
base::Result<BackupReport> make_backup(BackupSource& source, const BackupPlace& place,
                                       const BackupOptions& options = {});

}  // namespace holdfast::store
