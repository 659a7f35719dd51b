// SPDX-License-Identifier: Apache-2.0
#include "store/world_database.h"

#include <utility>

namespace holdfast::store {
namespace {

// After a failed sync the write-ahead log may be in the memory of the operating system only, and
// SQLite would believe it: what is found there would not be written again. So every byte of it is,
// first.
base::Result<void> write_log_again(env::Disk& disk, const std::string& path) {
  auto opened = disk.open(path, env::OpenMode::kReadWrite);
  if (!opened && opened.error().code() == base::ErrorCode::kNotFound) return {};
  const std::unique_ptr<env::File> file = TRY(std::move(opened));
  base::Bytes chunk(std::size_t{256} << 10);
  for (std::uint64_t at = 0;;) {
    const std::size_t count = TRY(file->read_at(at, chunk));
    if (count == 0) break;
    TRY(env::write_all(*file, at, base::ByteView(chunk).first(count)));
    at += count;
  }
  return file->sync_data();
}

// What another world put there would be taken for ours.
base::Result<void> check_world(SqliteDatabase& database, const WorldFolder& world,
                               const std::string& path) {
  auto select = TRY(database.prepare("SELECT id FROM world"));
  if (TRY(select.step())) {
    const bool is_ours = base::equal(select.bytes(0), world.id());
    select.reset();
    if (is_ours) return {};
    return base::Error(base::ErrorCode::kCorrupt, path, "belongs to another world");
  }
  auto insert = TRY(database.prepare("INSERT INTO world VALUES (?1)"));
  insert.bind(1, base::ByteView(world.id()));
  TRY(insert.step());
  return {};
}

}  // namespace

base::Result<WorldDatabase> open_world_database(WorldFolder& world, const std::string& name,
                                                const std::string& schema) {
  const std::string path = world.path() + "/" + name;
  TRY(write_log_again(world.disk(), path + "-wal"));
  auto vfs = std::make_unique<SqliteVfs>(world.disk(), world.random());
  SqliteDatabase database = TRY(SqliteDatabase::open(*vfs, path));
  TRY(database.check_layout());
  TRY(database.run("BEGIN IMMEDIATE"));
  TRY(database.run("CREATE TABLE IF NOT EXISTS world(id BLOB NOT NULL);" + schema));
  TRY(check_world(database, world, path));
  TRY(database.run("COMMIT"));
  return WorldDatabase{std::move(vfs), std::move(database)};
}

}  // namespace holdfast::store
