// SPDX-License-Identifier: Apache-2.0
#include "store/blob_store.h"

#include <utility>

#include "base/sha256.h"
#include "store/world_database.h"

namespace holdfast::store {
namespace {

constexpr const char* kBlobsSchema = R"(
  CREATE TABLE IF NOT EXISTS blobs(
    id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS touched(blob INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS snapshots(
    number INTEGER PRIMARY KEY AUTOINCREMENT, next_record INTEGER NOT NULL, hash BLOB NOT NULL,
    lineage BLOB NOT NULL, time_ns INTEGER NOT NULL, floor INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS marks(
    blob INTEGER NOT NULL, kind INTEGER NOT NULL, PRIMARY KEY(blob, kind)) WITHOUT ROWID;
)";

constexpr const char* kInsertBlob =
    "INSERT INTO blobs(hash, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

constexpr const char* kTouch = R"(
  INSERT OR REPLACE INTO touched
    SELECT id, (SELECT seq FROM sqlite_sequence WHERE name = 'blobs') FROM blobs WHERE hash = ?1
)";

constexpr const char* kRepair = "UPDATE blobs SET bytes = ?2 WHERE hash = ?1 AND bytes <> ?2";

// Of a statement that gives one.
base::Result<std::uint64_t> number_of(SqliteStatement& statement) {
  if (!TRY(statement.step())) return std::uint64_t{0};
  const std::uint64_t number = statement.nat(0);
  statement.reset();
  return number;
}

}  // namespace

BlobStore::BlobStore(std::unique_ptr<SqliteVfs> vfs, SqliteDatabase database, Statements statements)
    : vfs_(std::move(vfs)), database_(std::move(database)), statements_(std::move(statements)) {}

base::Result<std::unique_ptr<BlobStore>> BlobStore::open(WorldFolder& world,
                                                         const std::string& file) {
  auto [vfs, database] = TRY(open_world_database(world, file, kBlobsSchema));
  Statements statements;
  statements.find = TRY(database.prepare(kFindBlob));
  statements.insert = TRY(database.prepare(kInsertBlob));
  statements.touch = TRY(database.prepare(kTouch));
  statements.repair = TRY(database.prepare(kRepair));
  statements.add_nothing = TRY(database.prepare("INSERT OR REPLACE INTO touched VALUES (-1, 0)"));
  statements.drop_nothing = TRY(database.prepare("DELETE FROM touched WHERE blob = -1"));
  statements.count = TRY(database.prepare("SELECT count(*) FROM blobs"));
  statements.pages = TRY(database.prepare("PRAGMA page_count"));
  statements.page_bytes = TRY(database.prepare("PRAGMA page_size"));
  return std::unique_ptr<BlobStore>(
      new BlobStore(std::move(vfs), std::move(database), std::move(statements)));
}

base::Result<void> BlobStore::alive() const {
  if (!failure_) return {};
  return base::Error(failure_->code, failure_->where, failure_->message);
}

base::Result<base::Bytes> BlobStore::get(const base::Hash& hash) {
  if (const base::Bytes* waiting = waiting_.find(hash)) return *waiting;
  return read_blob(statements_.find, hash);
}

base::Result<base::Bytes> read_blob(SqliteStatement& find, const base::Hash& hash) {
  find.bind(1, base::ByteView(hash.bytes));
  if (!TRY(find.step()))
    return base::Error(base::ErrorCode::kNotFound, hash.to_text(), "there is no such blob")
        .from(base::Error::Origin::kSystem);
  const base::ByteView stored = find.bytes(0);
  base::Bytes bytes(stored.begin(), stored.end());
  find.reset();
  if (base::sha256(bytes) != hash)
    return base::Error(base::ErrorCode::kCorrupt, hash.to_text(), "the blob is damaged");
  return bytes;
}

base::Result<void> BlobStore::insert(const base::Hash& hash, base::ByteView bytes) {
  SqliteStatement& insert = statements_.insert;
  insert.bind(1, base::ByteView(hash.bytes));
  insert.bind(2, bytes);
  TRY(insert.step());
  if (database_.changes() != 0) return {};  // it was not there
  statements_.touch.bind(1, base::ByteView(hash.bytes));
  TRY(statements_.touch.step());
  statements_.repair.bind(1, base::ByteView(hash.bytes));
  statements_.repair.bind(2, bytes);
  TRY(statements_.repair.step());
  return {};
}

base::Result<base::Hash> BlobStore::put(base::ByteView bytes) {
  TRY(alive());
  if (bytes.size() > kMaxBlobBytes) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "a blob of more than " + std::to_string(kMaxBlobBytes) + " bytes");
  }
  const base::Hash hash = base::sha256(bytes);
  if (database_.is_in_transaction()) {
    TRY(insert(hash, bytes));
    return hash;
  }
  if (waiting_.find(hash) != nullptr) return hash;
  waiting_.add(hash, bytes);
  if (waiting_.size() <= kWaitingBytes) return hash;
  auto written = write_waiting();
  if (written) return hash;
  if (!failure_) waiting_.drop_newest();
  return std::move(written).error();
}

base::Result<void> BlobStore::write_waiting() {
  if (waiting_.entries().empty()) return {};
  auto written = in_transaction([&]() -> base::Result<void> {
    for (const auto& [hash, bytes] : waiting_.entries()) TRY(insert(hash, bytes));
    return {};
  });
  if (written) {
    waiting_.clear();
  } else if (written.error().code() != base::ErrorCode::kUnavailable) {
    end_with(written.error());
    return alive();
  }
  return written;
}

// What was accepted is lost; nobody may take what was put before, or will be, for the whole.
void BlobStore::end_with(const base::Error& error) {
  waiting_.clear();
  failure_ = {error.code(), error.where(),
              "what was put since the last sync is lost: " + error.message()};
}

base::Result<void> BlobStore::put_all(std::span<const Hashed> blobs) {
  TRY(alive());
  TRY(write_waiting());
  auto written = database_.set_durable_commits(false);
  if (written) {
    is_unsynced_ = true;
    written = in_transaction([&]() -> base::Result<void> {
      for (const Hashed& blob : blobs) TRY(insert(blob.hash, blob.bytes));
      return {};
    });
    if (auto again = database_.set_durable_commits(true); written && !again)
      written = std::move(again);
  }
  if (written || written.error().code() == base::ErrorCode::kUnavailable) return written;
  end_with(written.error());
  return alive();
}

// A commit makes everything durable that was committed before it, if it has anything to write.
base::Result<void> BlobStore::make_durable() {
  if (!is_unsynced_) return {};
  auto made = in_transaction([&]() -> base::Result<void> {
    TRY(statements_.add_nothing.step());
    TRY(statements_.drop_nothing.step());
    return {};
  });
  if (made) {
    is_unsynced_ = false;
  } else if (made.error().code() != base::ErrorCode::kUnavailable) {
    end_with(made.error());
    return alive();
  }
  return made;
}

base::Result<void> BlobStore::sync() {
  TRY(alive());
  TRY(write_waiting());
  return make_durable();
}

base::Result<void> BlobStore::in_transaction(const std::function<base::Result<void>()>& work) {
  auto done = database_.run("BEGIN IMMEDIATE");
  if (done) done = work();
  if (done) done = database_.run("COMMIT");
  if (done) return {};
  // Nothing may be left of it, also where SQLite would have kept a part. When that fails too,
  // nobody knows what the file holds.
  const bool undone = !database_.is_in_transaction() || database_.run("ROLLBACK").has_value();
  auto code = undone ? done.error().code() : base::ErrorCode::kIo;
  if (code == base::ErrorCode::kUnavailable && !give_back_log()) code = base::ErrorCode::kIo;
  return base::Error(code, done.error().where(), done.error().message());
}

// What found no room has left its pages in the write-ahead log, which nobody needs: others, such as
// the journal, need the room. Without any the database may not even take what the log still holds,
// and then that stays. False: nobody knows what the file holds.
bool BlobStore::give_back_log() {
  const auto cut = database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return cut || cut.error().code() == base::ErrorCode::kUnavailable;
}

base::Result<void> BlobStore::transact(const std::function<base::Result<void>()>& work) {
  TRY(sync());
  auto done = in_transaction(work);
  if (!done && done.error().code() == base::ErrorCode::kIo)
    failure_ = {done.error().code(), done.error().where(), done.error().message()};
  return done;
}

base::Result<std::uint64_t> BlobStore::count() {
  if (!database_.is_in_transaction()) TRY(sync());
  return number_of(statements_.count);
}

base::Result<std::uint64_t> BlobStore::file_bytes() {
  const std::uint64_t pages = TRY(number_of(statements_.pages));
  return pages * TRY(number_of(statements_.page_bytes));
}

}  // namespace holdfast::store
