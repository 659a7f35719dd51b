// SPDX-License-Identifier: Apache-2.0
#include "store/history_swap.h"

#include <algorithm>
#include <utility>

namespace holdfast::store {
namespace {

constexpr const char* kNewFile = "history.db.new";
constexpr const char* kLog = "-wal";

base::Result<bool> is_there(WorldFolder& world, const std::string& name) {
  const std::vector<std::string> names = TRY(world.disk().list(world.path()));
  return std::ranges::binary_search(names, name);
}

base::Result<void> remove(WorldFolder& world, const std::string& name) {
  if (!TRY(is_there(world, name))) return {};
  TRY(world.disk().remove(world.path() + "/" + name));
  return world.disk().sync_directory(world.path());
}

// The database before its log: a database without its log may be half of something, a log without
// its database is nothing.
base::Result<void> remove_database(WorldFolder& world, const std::string& name) {
  TRY(remove(world, name));
  return remove(world, name + kLog);
}

// A log that stays behind would be taken for one of the new database. Closing an index puts its log
// into it; where that cannot be done, the old one is damaged, and goes first.
base::Result<void> let_go_of_old_log(WorldFolder& world) {
  const std::string log = std::string(kHistoryFile) + kLog;
  if (!TRY(is_there(world, log))) return {};
  static_cast<void>(HistoryIndex::open(world).has_value());
  if (TRY(is_there(world, log))) return remove_database(world, kHistoryFile);
  // SQLite has removed it, and does not sync the folder.
  return world.disk().sync_directory(world.path());
}

}  // namespace

base::Result<std::unique_ptr<HistoryIndex>> begin_new_history(WorldFolder& world) {
  TRY(remove_database(world, kNewFile));
  return HistoryIndex::open(world, kNewFile);
}

base::Result<void> put_in_place(WorldFolder& world, std::unique_ptr<HistoryIndex> built) {
  built.reset();
  if (TRY(is_there(world, std::string(kNewFile) + kLog))) {
    return base::Error(base::ErrorCode::kIo, world.path() + "/" + kNewFile,
                       "could not be closed: its log is still there");
  }
  TRY(let_go_of_old_log(world));
  TRY(world.disk().rename(world.path() + "/" + kNewFile, world.path() + "/" + kHistoryFile));
  return world.disk().sync_directory(world.path());
}

}  // namespace holdfast::store
