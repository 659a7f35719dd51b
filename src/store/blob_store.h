// SPDX-License-Identifier: Apache-2.0
// BlobStore: bytes by their SHA-256, in a file of the world: blobs.db is the kernel's, which its
// snapshots name; effects.db holds what workflows put (store/effect_gc.h collects it).
//
// Promises:
//  1. What was put before sync() returned survives any crash or power cut; what was put after
//     it may be gone.
//  2. get() gives exactly the bytes that were put, or an error: they are hashed again.
//  3. A full disk loses nothing. What was put waits in memory, at most kWaitingBytes of it, until
//     it is written; when that finds no room it goes on waiting, and the put (which is then as if
//     it had not been tried) or sync() says kUnavailable and may be tried again. After any other
//     error the store has ended, as a journal does, and what was put since the last sync is gone.
//  4. Putting bytes that are there already is remembered: a collection spares what was put since
//     the last snapshot, whether it was new then or not. If they are damaged, it mends them.
//
// What else is in the file (store/snapshots.h, store/blob_gc.h) is written in transactions of its
// own. The tables are in docs/formats/blobs.md.
//
// For one thread at a time; in a running node, whoever is inside node/store_blobs.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/sqlite.h"
#include "store/waiting_blobs.h"
#include "store/world_folder.h"

namespace holdfast::store {

inline constexpr char kKernelBlobs[] = "blobs.db";
inline constexpr char kEffectBlobs[] = "effects.db";
inline constexpr std::size_t kMaxBlobBytes = std::size_t{64} << 20;
inline constexpr std::size_t kWaitingBytes = std::size_t{4} << 20;

// Finds the blob with this hash: the statement for it, and what it comes to. The bytes are hashed
// again. kNotFound, kCorrupt.
inline constexpr const char* kFindBlob = "SELECT bytes FROM blobs WHERE hash = ?1";
base::Result<base::Bytes> read_blob(SqliteStatement& find, const base::Hash& hash);

class BlobStore {
 public:
  // The world must outlive it.
  static base::Result<std::unique_ptr<BlobStore>> open(WorldFolder& world,
                                                       const std::string& file = kKernelBlobs);

  base::Result<base::Bytes> get(const base::Hash& hash);
  base::Result<base::Hash> put(base::ByteView bytes);
  base::Result<void> sync();

  // Puts all of them at once, in one transaction: what was put before is written first. They are
  // durable after the next sync(), or the next transact(). kUnavailable: none of them was put. The
  // hashes must be theirs.
  struct Hashed {
    base::Hash hash;
    base::ByteView bytes;
  };
  base::Result<void> put_all(std::span<const Hashed> blobs);

  // How many there are; those that wait are written first.
  base::Result<std::uint64_t> count();

  // Of the file, with what was removed and not used again.
  base::Result<std::uint64_t> file_bytes();

  // Syncs, then does the work in a transaction of its own, which is durable when this returns. On
  // an error nothing of it was done, nor of what it put.
  base::Result<void> transact(const std::function<base::Result<void>()>& work);

  // For the work of a transaction.
  SqliteDatabase& database() noexcept { return database_; }

  // Collections share one table of marks, so the next one puts an end to the one before.
  std::uint64_t new_collection() noexcept { return ++collection_; }
  bool is_current(std::uint64_t collection) const noexcept { return collection == collection_; }

 private:
  struct Statements {
    SqliteStatement find;
    SqliteStatement insert;
    SqliteStatement touch;
    SqliteStatement repair;
    SqliteStatement add_nothing;  // together they change nothing, but a commit has to write it
    SqliteStatement drop_nothing;
    SqliteStatement count;
    SqliteStatement pages;
    SqliteStatement page_bytes;
  };
  BlobStore(std::unique_ptr<SqliteVfs> vfs, SqliteDatabase database, Statements statements);

  base::Result<void> insert(const base::Hash& hash, base::ByteView bytes);
  base::Result<void> in_transaction(const std::function<base::Result<void>()>& work);
  bool give_back_log();
  base::Result<void> write_waiting();
  base::Result<void> make_durable();
  void end_with(const base::Error& error);
  base::Result<void> alive() const;

  struct Failure {
    base::ErrorCode code;
    std::string where;
    std::string message;
  };

  std::unique_ptr<SqliteVfs> vfs_;  // before what uses it
  SqliteDatabase database_;
  Statements statements_;
  WaitingBlobs waiting_;
  std::optional<Failure> failure_;
  std::uint64_t collection_ = 0;
  bool is_unsynced_ = false;  // something was committed that may not be durable
};

}  // namespace holdfast::store
