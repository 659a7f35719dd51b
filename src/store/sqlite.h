// SPDX-License-Identifier: Apache-2.0
// SQLite with our errors: a database, and statements that are prepared once.
// Errors: kUnavailable when the disk is full, kCorrupt when SQLite says so, kIo for everything
// else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "store/sqlite_vfs.h"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::store {

// For a program in which nothing but Holdfast uses SQLite, before the first database is opened:
// SQLite counts the memory of a whole process under one mutex, which all databases then wait for.
// This turns the counting off. It is a setting of the process, so a library must not choose it.
void use_sqlite_alone();

class SqliteStatement {
 public:
  SqliteStatement() = default;  // to be assigned

  // Parameters count from 1, and must live until the step.
  void bind(int parameter, base::ByteView bytes);
  void bind(int parameter, std::string_view text);
  void bind(int parameter, std::int64_t number);
  void bind(int parameter, std::uint64_t number) {
    bind(parameter, static_cast<std::int64_t>(number));  // comes back as it was
  }

  // True when there is a row. After false, or an error, it can be bound again.
  base::Result<bool> step();

  // Of the row, until the next step; columns count from 0.
  base::ByteView bytes(int column) const;
  std::string_view text(int column) const { return base::as_text(bytes(column)); }
  std::int64_t number(int column) const;
  bool is_null(int column) const;
  std::uint64_t nat(int column) const { return static_cast<std::uint64_t>(number(column)); }

  void reset();

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteDatabase {
 public:
  // Makes it if it is not there. For this connection alone, in WAL mode, and what is committed is
  // durable.
  static base::Result<SqliteDatabase> open(const SqliteVfs& vfs, const std::string& path);

  // For reading one that is there; writes nothing, also when it is closed.
  static base::Result<SqliteDatabase> look(const SqliteVfs& vfs, const std::string& path);

  // A new one that is filled with pages of another, without a log: a crash leaves nothing usable.
  static base::Result<SqliteDatabase> make_copy(const SqliteVfs& vfs, const std::string& path);

  base::Result<void> run(const std::string& sql);
  base::Result<SqliteStatement> prepare(const std::string& sql);

  // Which layout its tables have, as PRAGMA user_version says it: 0 stands for the first, so that
  // those say it that were made before there were others. kConflict: this program does not know it.
  base::Result<void> check_layout();

  // How many rows the last statement that inserts, updates or deletes has changed; triggers do not
  // count.
  std::int64_t changes() const;

  // The row that was inserted last, if one was since the row was forgotten; else 0. An upsert that
  // updates inserts none.
  std::int64_t inserted_row() const;
  void forget_inserted_row();

  // Whether a commit is durable when it returns, as it is from the beginning. If not, it is durable
  // with the next one that is; a crash loses the last of them, and never a part of one. The log is
  // not copied into the database meanwhile: SQLite would sync the log for that, and not say if it
  // cannot. Not within a transaction.
  base::Result<void> set_durable_commits(bool durable);

  // Whether begin was run and neither commit nor rollback since; an error may have rolled back.
  bool is_in_transaction() const;

 private:
  friend class DatabaseCopy;
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  explicit SqliteDatabase(std::unique_ptr<sqlite3, Close> database)
      : database_(std::move(database)) {}

  static base::Result<SqliteDatabase> open(const SqliteVfs& vfs, const std::string& path,
                                           int flags);

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace holdfast::store
