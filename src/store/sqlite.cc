// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

#include <sqlite3.h>

#include <utility>

#include "base/check.h"
#include "store/segment_files.h"

namespace holdfast::store {
namespace {

base::ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL: return base::ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return base::ErrorCode::kCorrupt;
    default: return base::ErrorCode::kIo;
  }
}

// The log is copied into the database when it has so many pages. More would cost less, as a page
// that changed several times is copied once; but a slow disk then keeps the journal waiting.
constexpr int kCheckpointPages = 1000;

base::Error error_of(sqlite3* database, int code) {
  const char* const path = sqlite3_db_filename(database, nullptr);
  return base::Error(code_of(code), path != nullptr ? path : "", sqlite3_errmsg(database))
      .from(base::Error::Origin::kSystem);
}

}  // namespace

void use_sqlite_alone() {
  // Refused if a database was opened before: then it goes on counting.
  static_cast<void>(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0));
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

void SqliteStatement::bind(int parameter, base::ByteView bytes) {
  // SQLite takes a null pointer for NULL, which an empty value is not.
  const void* const data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  CHECK(sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC) ==
        SQLITE_OK);
}

void SqliteStatement::bind(int parameter, std::string_view text) {
  const char* const data = text.empty() ? "" : text.data();
  CHECK(sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC,
                            SQLITE_UTF8) == SQLITE_OK);
}

void SqliteStatement::bind(int parameter, std::int64_t number) {
  CHECK(sqlite3_bind_int64(statement_.get(), parameter, number) == SQLITE_OK);
}

base::Result<bool> SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  base::Error error = error_of(sqlite3_db_handle(statement_.get()), code);
  reset();
  return error;
}

base::ByteView SqliteStatement::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)};
}

std::int64_t SqliteStatement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void SqliteDatabase::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

base::Result<SqliteDatabase> SqliteDatabase::open(const SqliteVfs& vfs, const std::string& path,
                                                  int flags) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, vfs.name().c_str());
  SqliteDatabase database{std::unique_ptr<sqlite3, Close>(opened)};
  if (code != SQLITE_OK)
    return base::Error(code_of(code), path, opened ? sqlite3_errmsg(opened) : "out of memory");
  // Exclusive first: then the index of the write-ahead log is in memory, and needs no other file.
  TRY(database.run("PRAGMA locking_mode = EXCLUSIVE"));
  TRY(database.run("PRAGMA temp_store = MEMORY"));
  // Damage is found where it is, and not as a wrong answer later.
  TRY(database.run("PRAGMA cell_size_check = ON"));
  return database;
}

base::Result<SqliteDatabase> SqliteDatabase::open(const SqliteVfs& vfs, const std::string& path) {
  SqliteDatabase database = TRY(open(vfs, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  TRY(database.run("PRAGMA journal_mode = WAL"));
  TRY(database.run("PRAGMA synchronous = FULL"));
  CHECK(sqlite3_wal_autocheckpoint(database.database_.get(), kCheckpointPages) == SQLITE_OK);
  // A log that one large transaction made long is cut by the next one: opening reads all of it. The
  // usual length stays, so that writing does not make the file longer again each time.
  TRY(database.run("PRAGMA journal_size_limit = 8388608"));
  // 16 MiB. With less, the pages of one transaction are written and read back before it ends.
  TRY(database.run("PRAGMA cache_size = -16384"));
  return database;
}

base::Result<SqliteDatabase> SqliteDatabase::look(const SqliteVfs& vfs, const std::string& path) {
  SqliteDatabase database = TRY(open(vfs, path, SQLITE_OPEN_READONLY));
  // Otherwise closing it puts the log into the database.
  CHECK(sqlite3_db_config(database.database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr) ==
        SQLITE_OK);
  return database;
}

base::Result<SqliteDatabase> SqliteDatabase::make_copy(const SqliteVfs& vfs,
                                                       const std::string& path) {
  SqliteDatabase database = TRY(open(vfs, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  TRY(database.run("PRAGMA journal_mode = OFF"));
  // Whoever makes the copy syncs the file when it is whole.
  TRY(database.run("PRAGMA synchronous = OFF"));
  return database;
}

base::Result<void> SqliteDatabase::run(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(database_.get(), code);
  return {};
}

base::Result<SqliteStatement> SqliteDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return error_of(database_.get(), code);
  return SqliteStatement(statement);
}

base::Result<void> SqliteDatabase::check_layout() {
  constexpr std::uint64_t kKnown = 1;
  auto select = TRY(prepare("PRAGMA user_version"));
  const std::uint64_t version = TRY(select.step()) && select.nat(0) != 0 ? select.nat(0) : kKnown;
  if (version == kKnown) return {};
  const char* const path = sqlite3_db_filename(database_.get(), nullptr);
  return other_version_at(path != nullptr ? path : "", version, kKnown);
}

std::int64_t SqliteDatabase::changes() const { return sqlite3_changes64(database_.get()); }

std::int64_t SqliteDatabase::inserted_row() const {
  return sqlite3_last_insert_rowid(database_.get());
}

void SqliteDatabase::forget_inserted_row() { sqlite3_set_last_insert_rowid(database_.get(), 0); }

base::Result<void> SqliteDatabase::set_durable_commits(bool durable) {
  CHECK(sqlite3_wal_autocheckpoint(database_.get(), durable ? kCheckpointPages : 0) == SQLITE_OK);
  return run(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

bool SqliteDatabase::is_in_transaction() const {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

}  // namespace holdfast::store
