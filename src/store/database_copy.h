// SPDX-License-Identifier: Apache-2.0
// DatabaseCopy: copies a SQLite database that is in use into a new file, some pages at a time,
// through SQLite's backup interface. Between two steps the database may be read and written through
// its own connection: pages that were copied already are then copied again by SQLite, so the copy
// is the database as it is when the last step returns. An error of the new file never reaches those
// who write the database.
//
// For whoever may use the database just then; also the destructor. It must go before the database.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/sqlite.h"

struct sqlite3_backup;

namespace holdfast::store {

class DatabaseCopy {
 public:
  // `path` must not be there. The disk, the random source and the database must outlive it.
  static base::Result<std::unique_ptr<DatabaseCopy>> begin(SqliteDatabase& from, env::Disk& disk,
                                                           env::Random& random, std::string path);
  ~DatabaseCopy();
  DatabaseCopy(const DatabaseCopy&) = delete;
  DatabaseCopy& operator=(const DatabaseCopy&) = delete;

  // Copies so many pages. False: the copy is whole, and nothing more may be done with it but to
  // sync its file. kUnavailable: there is no room for it.
  base::Result<bool> step(int pages);

 private:
  DatabaseCopy(env::Disk& disk, env::Random& random, std::string path)
      : vfs_(disk, random), path_(std::move(path)) {}

  base::Result<void> finish();

  SqliteVfs vfs_;
  const std::string path_;
  std::optional<SqliteDatabase> to_;  // after what it stands on
  sqlite3_backup* backup_ = nullptr;
};

}  // namespace holdfast::store
