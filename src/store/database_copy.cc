// SPDX-License-Identifier: Apache-2.0
#include "store/database_copy.h"

#include <sqlite3.h>

#include <utility>

namespace holdfast::store {
namespace {

base::ErrorCode copy_code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL: return base::ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return base::ErrorCode::kCorrupt;
    default: return base::ErrorCode::kIo;
  }
}

base::Error copy_error(int sqlite_code, const std::string& path) {
  return {copy_code_of(sqlite_code), path,
          std::string("the database cannot be copied: ") + sqlite3_errstr(sqlite_code)};
}

}  // namespace

base::Result<std::unique_ptr<DatabaseCopy>> DatabaseCopy::begin(SqliteDatabase& from,
                                                                env::Disk& disk,
                                                                env::Random& random,
                                                                std::string path) {
  std::unique_ptr<DatabaseCopy> copy(new DatabaseCopy(disk, random, std::move(path)));
  copy->to_ = TRY(SqliteDatabase::make_copy(copy->vfs_, copy->path_));
  copy->backup_ =
      sqlite3_backup_init(copy->to_->database_.get(), "main", from.database_.get(), "main");
  if (copy->backup_ == nullptr)
    return copy_error(sqlite3_errcode(copy->to_->database_.get()), copy->path_);
  return copy;
}

DatabaseCopy::~DatabaseCopy() { static_cast<void>(finish().has_value()); }

base::Result<bool> DatabaseCopy::step(int pages) {
  const int code = sqlite3_backup_step(backup_, pages);
  if (code == SQLITE_OK) return true;
  if (code != SQLITE_DONE) return copy_error(code, path_);
  TRY(finish());
  to_.reset();
  return false;
}

base::Result<void> DatabaseCopy::finish() {
  if (backup_ == nullptr) return {};
  const int code = sqlite3_backup_finish(std::exchange(backup_, nullptr));
  if (code != SQLITE_OK) return copy_error(code, path_);
  return {};
}

}  // namespace holdfast::store
