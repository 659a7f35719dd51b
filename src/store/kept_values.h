// SPDX-License-Identifier: Apache-2.0
// Everything that a world keeps on disk and in which the hash of a blob may stand, a piece at a
// time: the blobs of its snapshots, the records of its journal, the index of its instances. For a
// collection of the blobs that workflows put (store/effect_gc.h).
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "store/blob_store.h"
#include "store/journal.h"

namespace holdfast::store {

// Shown: bytes that are there until it returns. An error ends the piece.
using ShowValue = std::function<base::Result<void>(base::ByteView value)>;

// Every blob that there is when it is made. What snapshots do not reach is shown, too: a collection
// of these blobs should come first. kCorrupt: a blob is damaged.
class BlobValues {
 public:
  // The blobs must outlive it.
  static base::Result<BlobValues> open(BlobStore& blobs);

  // About so many bytes. False: that was all.
  base::Result<bool> next(std::size_t bytes, const ShowValue& show);

 private:
  BlobValues() = default;

  SqliteStatement next_;
  std::int64_t at_ = 0;
  std::int64_t last_ = 0;
};

// The records up to `last`.
class RecordValues {
 public:
  RecordValues(std::unique_ptr<JournalReader> reader, RecordNumber last)
      : reader_(std::move(reader)), last_(last) {}

  base::Result<bool> next(std::size_t bytes, const ShowValue& show);

 private:
  std::unique_ptr<JournalReader> reader_;
  RecordNumber last_;
};

// What an index of instances (store/history_index.h) holds and nothing else may hold any more: the
// streams, and the texts that people search. Keys and errors are those of instances that a snapshot
// holds. Rows that come meanwhile may be missed.
class IndexValues {
 public:
  // The database must outlive it. kConflict: it is an index of a version that is not known.
  static base::Result<IndexValues> open(SqliteDatabase& index);

  base::Result<bool> next(std::size_t bytes, const ShowValue& show);

 private:
  IndexValues() = default;

  std::vector<SqliteStatement> tables_;  // those that are left, the present one last
  std::int64_t at_[2] = {0, 0};          // of its key
};

}  // namespace holdfast::store
