// SPDX-License-Identifier: Apache-2.0
// The manifest of a backup: which files it consists of, and what each must be. It is the file
// BACKUP in the folder of the backup, written last: a folder without it holds no finished backup.
// Format: docs/formats/backup.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "env/disk.h"
#include "store/journal_format.h"

namespace holdfast::store {

inline constexpr const char* kBackupFile = "BACKUP";
inline constexpr const char* kBackupData = "data";  // the folder of its files

struct BackupFile {
  std::string name;         // in the folder of the world
  std::string stored;       // below data/
  std::uint64_t bytes = 0;  // as stored
  // Of the restored file, which ends with zeros; the same as `bytes`: it has no more.
  std::uint64_t length = 0;
  base::Hash hash;  // SHA-256 of the stored bytes
};

struct BackupManifest {
  std::uint64_t number = 0;  // how many backups were finished in this folder, with this one
  JournalId world{};
  std::uint64_t time_ns = 0;  // when it was begun
  RecordNumber first = 0;
  RecordNumber last = 0;  // everything up to here is in it
  std::vector<BackupFile> files;

  std::uint64_t bytes() const;
};

// kTooLarge: there are too many files.
base::Result<base::Bytes> encode(const BackupManifest& manifest);

// kCorrupt: it is damaged. kConflict: it was written by a newer version.
base::Result<BackupManifest> decode_backup_manifest(base::ByteView bytes, const std::string& path);

// Of the backup in this folder; nothing: there is no finished one.
base::Result<std::optional<BackupManifest>> read_backup_manifest(env::Disk& disk,
                                                                 const std::string& folder);

}  // namespace holdfast::store
