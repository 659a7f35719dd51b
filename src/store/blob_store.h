// SPDX-License-Identifier: Apache-2.0
// BlobStore: bytes by their SHA-256, in blobs.db of the world.
//
// Promises:
//  1. What was put before sync() returned survives any crash or power cut; what was put after
//     it may be gone.
//  2. get() gives exactly the bytes that were put, or an error: they are hashed again.
//  3. When a put fails, everything put since the last sync is gone, and the next sync() says so:
//     nobody can take a part for the whole. When it failed for lack of space, one may begin
//     again after that sync(); after any other error the store has ended, as a journal does.
//
// For one thread.
#pragma once

#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/sqlite.h"
#include "store/world_folder.h"

namespace holdfast::store {

inline constexpr std::size_t kMaxBlobBytes = std::size_t{64} << 20;

class BlobStore {
 public:
  // The world must outlive it.
  static base::Result<std::unique_ptr<BlobStore>> open(WorldFolder& world);

  base::Result<base::Bytes> get(const base::Hash& hash);
  base::Result<base::Hash> put(base::ByteView bytes);
  base::Result<void> sync();

  // How many there are, those not yet synced included.
  base::Result<std::uint64_t> count();

 private:
  BlobStore(std::unique_ptr<SqliteVfs> vfs, SqliteDatabase database, SqliteStatement find,
            SqliteStatement insert, SqliteStatement count);

  base::Result<bool> insert(const base::Hash& hash, base::ByteView bytes);
  base::Error fail(base::Error error);
  base::Result<void> alive() const;

  struct Failure {
    base::ErrorCode code;
    std::string where;
    std::string message;
  };

  std::unique_ptr<SqliteVfs> vfs_;  // before what uses it
  SqliteDatabase database_;
  SqliteStatement find_;
  SqliteStatement insert_;
  SqliteStatement count_;
  std::optional<Failure> failure_;
};

}  // namespace holdfast::store
