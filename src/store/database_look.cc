// SPDX-License-Identifier: Apache-2.0
#include "store/database_look.h"

#include <algorithm>

namespace holdfast::store {

DatabaseLook::DatabaseLook(const WorldPlace& world, const std::string& name)
    : path_(world.path + "/" + name), disk_(world.disk), vfs_(disk_, world.random) {}

base::Result<std::unique_ptr<DatabaseLook>> DatabaseLook::open(const WorldPlace& world,
                                                               const std::string& name) {
  const std::vector<std::string> names = TRY(world.disk.list(world.path));
  if (!std::ranges::binary_search(names, name)) return std::unique_ptr<DatabaseLook>();
  std::unique_ptr<DatabaseLook> look(new DatabaseLook(world, name));
  look->database_ = TRY(SqliteDatabase::look(look->vfs_, look->path_));
  TRY(look->database_->check_layout());
  // Whoever made the file died before there was anything in it.
  auto tables = TRY(look->database_->prepare("SELECT 1 FROM sqlite_schema"));
  if (!TRY(tables.step())) return std::unique_ptr<DatabaseLook>();
  TRY(look->check_world(world.id));
  return look;
}

base::Result<void> DatabaseLook::check_world(const std::optional<JournalId>& id) {
  auto select = TRY(database_->prepare("SELECT id FROM world"));
  const bool is_said = TRY(select.step());
  if (!is_said || !id || base::equal(select.bytes(0), *id)) return {};
  return base::Error(base::ErrorCode::kCorrupt, path_, "belongs to another world");
}

}  // namespace holdfast::store
