// SPDX-License-Identifier: Apache-2.0
// A SQLite database in the folder of a world, which knows whose it is.
#pragma once

#include <memory>
#include <string>

#include "store/sqlite.h"
#include "store/world_folder.h"

namespace holdfast::store {

struct WorldDatabase {
  std::unique_ptr<SqliteVfs> vfs;  // before what uses it
  SqliteDatabase database;
};

// Opens the file of this name, or makes it, and runs `schema`, which makes what is missing.
// kCorrupt: it belongs to another world. The world must outlive it.
base::Result<WorldDatabase> open_world_database(WorldFolder& world, const std::string& name,
                                                const std::string& schema);

}  // namespace holdfast::store
