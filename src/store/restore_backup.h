// SPDX-License-Identifier: Apache-2.0
// Restoring: makes a world of a backup. It is the world that was backed up, in a new life: the file
// WORLD says after which record that begins (store/world_file.h), so that readers and seals of what
// happened later in the other life can be told apart.
#pragma once

#include <functional>
#include <string>

#include "env/process.h"
#include "env/random.h"
#include "store/backup_manifest.h"
#include "store/world_file.h"

namespace holdfast::store {

struct RestorePlace {
  env::Disk& disk;
  env::Random& random;
  env::Process& process;
  std::string path;  // of the new world; it must not be there
  std::uint64_t time_ns = 0;
};

struct RestoredBackup {
  BackupManifest manifest;
  Restored restored;
};

// Copies the backup in the folder `from` into the new folder and compares every file with the
// manifest. The world can then be opened: whether its records, snapshots and databases fit each
// other is for node/verify.h. kNotFound: there is no finished backup. kCorrupt: a file of it is
// damaged or missing. kConflict: the new folder is there already, or another process works on the
// backup. What was begun and could not be ended stays, cannot be opened, and says why. `progress`
// is told the bytes that were copied, and how many there are.
base::Result<RestoredBackup> restore_backup(
    const std::string& from, const RestorePlace& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace holdfast::store
