// SPDX-License-Identifier: Apache-2.0
#include "store/blob_store.h"

#include <utility>

#include "base/sha256.h"
#include "store/world_database.h"

namespace holdfast::store {
namespace {

constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS blobs(hash BLOB NOT NULL PRIMARY KEY, bytes BLOB NOT NULL);
)";

}  // namespace

BlobStore::BlobStore(std::unique_ptr<SqliteVfs> vfs, SqliteDatabase database, SqliteStatement find,
                     SqliteStatement insert, SqliteStatement count)
    : vfs_(std::move(vfs)),
      database_(std::move(database)),
      find_(std::move(find)),
      insert_(std::move(insert)),
      count_(std::move(count)) {}

base::Result<std::unique_ptr<BlobStore>> BlobStore::open(WorldFolder& world) {
  auto [vfs, database] = TRY(open_world_database(world, "blobs.db", kSchema));
  auto find = TRY(database.prepare("SELECT bytes FROM blobs WHERE hash = ?1"));
  auto insert = TRY(database.prepare("INSERT OR IGNORE INTO blobs VALUES (?1, ?2)"));
  auto count = TRY(database.prepare("SELECT count(*) FROM blobs"));
  return std::unique_ptr<BlobStore>(new BlobStore(
      std::move(vfs), std::move(database), std::move(find), std::move(insert), std::move(count)));
}

base::Result<void> BlobStore::alive() const {
  if (!failure_) return {};
  return base::Error(failure_->code, failure_->where, failure_->message);
}

// Everything since the last sync goes, also what SQLite would have kept.
base::Error BlobStore::fail(base::Error error) {
  failure_ = {error.code(), error.where(),
              "what was put since the last sync is lost: " + error.message()};
  if (database_.is_in_transaction()) {
    auto undone = database_.run("ROLLBACK");
    if (!undone) failure_->code = base::ErrorCode::kIo;
  }
  return {failure_->code, failure_->where, failure_->message};
}

base::Result<base::Bytes> BlobStore::get(const base::Hash& hash) {
  find_.bind(1, base::ByteView(hash.bytes));
  if (!TRY(find_.step()))
    return base::Error(base::ErrorCode::kNotFound, hash.to_text(), "there is no such blob");
  const base::ByteView stored = find_.bytes(0);
  base::Bytes bytes(stored.begin(), stored.end());
  find_.reset();
  if (base::sha256(bytes) != hash)
    return base::Error(base::ErrorCode::kCorrupt, hash.to_text(), "the blob is damaged");
  return bytes;
}

base::Result<bool> BlobStore::insert(const base::Hash& hash, base::ByteView bytes) {
  if (!database_.is_in_transaction()) TRY(database_.run("BEGIN IMMEDIATE"));
  insert_.bind(1, base::ByteView(hash.bytes));
  insert_.bind(2, bytes);
  return insert_.step();
}

base::Result<base::Hash> BlobStore::put(base::ByteView bytes) {
  TRY(alive());
  if (bytes.size() > kMaxBlobBytes) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "a blob of more than " + std::to_string(kMaxBlobBytes) + " bytes");
  }
  const base::Hash hash = base::sha256(bytes);
  auto inserted = insert(hash, bytes);
  if (!inserted) return fail(std::move(inserted).error());
  return hash;
}

base::Result<void> BlobStore::sync() {
  auto still = alive();
  if (!still) {
    if (still.error().code() == base::ErrorCode::kUnavailable) failure_.reset();
    return still;
  }
  if (!database_.is_in_transaction()) return {};
  auto committed = database_.run("COMMIT");
  if (!committed) {
    // This is the sync that says so.
    base::Error error = fail(std::move(committed).error());
    if (error.code() == base::ErrorCode::kUnavailable) failure_.reset();
    return error;
  }
  return {};
}

base::Result<std::uint64_t> BlobStore::count() {
  if (!TRY(count_.step())) return std::uint64_t{0};
  const auto count = static_cast<std::uint64_t>(count_.number(0));
  count_.reset();
  return count;
}

}  // namespace holdfast::store
