// SPDX-License-Identifier: Apache-2.0
// Snapshots: which snapshots of the world there are, in blobs.db beside the blobs they name. What a
// snapshot means is for others; here it is bytes that stand for all records before one.
//
// Promises:
//  1. A snapshot is listed only when its bytes and everything put before it are durable.
//  2. It belongs to the journal whose last record it was taken after: `lineage` is the hash of that
//     record. read() gives the bytes only if this journal has that record in that place.
//  3. add() keeps the last few, and those that are pinned; what the others named is left to a
//     collection. Of several after the same record the newest counts, and the others go.
//
// For one thread at a time, together with the blobs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "store/blob_store.h"
#include "store/journal.h"

namespace holdfast::store {

inline constexpr std::size_t kSnapshotsKept = 2;

struct SnapshotEntry {
  std::uint64_t number = 0;      // of this snapshot, from 1; never given again
  RecordNumber next_record = 1;  // the first record that is not in it
  base::Hash hash;               // of its bytes, which are a blob
  base::Hash lineage;            // of record next_record - 1; zeros: there is none
  std::int64_t time_ns = 0;      // when it was taken
};

// The statement that lists them, from the newest to the oldest, and what it comes to.
inline constexpr const char* kListSnapshots =
    "SELECT number, next_record, hash, lineage, time_ns FROM snapshots ORDER BY number DESC";
base::Result<std::vector<SnapshotEntry>> read_snapshots(SqliteStatement& list);

class Snapshots {
 public:
  // The blobs must outlive it.
  static base::Result<std::unique_ptr<Snapshots>> open(BlobStore& blobs);

  // From the newest to the oldest. At most those kept and those pinned.
  base::Result<std::vector<SnapshotEntry>> list();

  // To be called before anything else is put. kConflict: the journal is not durable up to
  // `next_record`. kUnavailable: there is no room; it is not listed, nothing that was put is lost,
  // and it may be tried again, later and after more was put. On any other error what was put since
  // the last sync may be lost.
  base::Result<SnapshotEntry> add(Journal& journal, RecordNumber next_record, base::ByteView bytes,
                                  std::int64_t time_ns, std::size_t keep = kSnapshotsKept);

  // kConflict: it is of another journal, or this one has lost records. kNotFound, kCorrupt: its
  // bytes, or the record that would tell, cannot be had.
  base::Result<base::Bytes> read(Journal& journal, const SnapshotEntry& entry);

  // Takes snapshots off the list that turned out to be of no use. kUnavailable: there is no room to
  // write that down; they are still listed, and everything goes on.
  base::Result<void> forget(const std::vector<SnapshotEntry>& entries);

  // While a pin is there, its snapshot stays listed, and what it reaches stays. What somebody puts
  // who works on a copy of it does not: that belongs elsewhere. It must not outlive the list.
  class Pin {
   public:
    Pin(Snapshots& snapshots, std::uint64_t number);
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    Snapshots& snapshots_;
    const std::uint64_t number_;
  };

 private:
  struct Statements {
    SqliteStatement list;
    SqliteStatement insert;
    SqliteStatement remove;
  };
  Snapshots(BlobStore& blobs, Statements statements);

  base::Result<void> remove(const SnapshotEntry& entry);
  base::Result<void> insert(const SnapshotEntry& entry, std::size_t keep);

  BlobStore& blobs_;
  Statements statements_;
  std::map<std::uint64_t, std::size_t> pins_;  // how many, by the number of the snapshot
};

// The first record that a journal has to keep so that each of these (in the order of list()) can be
// restored and its lineage told. 1 while fewer than `keep` are there, each after another record:
// then the records are what one falls back on.
RecordNumber records_needed(const std::vector<SnapshotEntry>& entries,
                            std::size_t keep = kSnapshotsKept);

}  // namespace holdfast::store
