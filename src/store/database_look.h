// SPDX-License-Identifier: Apache-2.0
// DatabaseLook: a SQLite database of a world, for looking. Nothing is changed: what a process that
// died has left in the log is read from there, and stays there. To be used under the lock of the
// world.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/looking_disk.h"
#include "store/sqlite.h"
#include "store/world_folder.h"

namespace holdfast::store {

// Where to look. The disk and the source of chance must outlive what is opened.
struct WorldPlace {
  env::Disk& disk;
  env::Random& random;
  std::string path;
  std::optional<JournalId> id;  // nothing: nobody knows it any more, and it is not compared

  static WorldPlace of(const WorldFolder& world) {
    return {world.disk(), world.random(), world.path(), world.id()};
  }
};

class DatabaseLook {
 public:
  // Null: there is no such file, or nothing in it. kCorrupt: it belongs to another world.
  static base::Result<std::unique_ptr<DatabaseLook>> open(const WorldPlace& world,
                                                          const std::string& name);

  SqliteDatabase& database() noexcept { return *database_; }
  const std::string& path() const noexcept { return path_; }

 private:
  DatabaseLook(const WorldPlace& world, const std::string& name);
  base::Result<void> check_world(const std::optional<JournalId>& id);

  std::string path_;
  LookingDisk disk_;
  SqliteVfs vfs_;
  std::optional<SqliteDatabase> database_;  // after what it stands on
};

}  // namespace holdfast::store
