// SPDX-License-Identifier: Apache-2.0
// BlobsLook: the blobs and the snapshots of a world, for looking at them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "store/database_look.h"
#include "store/snapshots.h"

namespace holdfast::store {

class BlobsLook {
 public:
  // Null: the world has no such file.
  static base::Result<std::unique_ptr<BlobsLook>> open(const WorldPlace& world,
                                                       const std::string& file = kKernelBlobs);

  // As BlobStore::get.
  base::Result<base::Bytes> get(const base::Hash& hash) { return read_blob(find_, hash); }

  // Blobs have numbers from 1, with gaps. The number of the first one after this number, or
  // nothing; and the blob of a number: the same errors as get.
  base::Result<std::optional<std::uint64_t>> number_after(std::uint64_t number);
  base::Result<base::Bytes> numbered(std::uint64_t number);

  // What SQLite finds wrong with the file; empty: nothing.
  std::string damage();

  // As Snapshots::list.
  base::Result<std::vector<SnapshotEntry>> snapshots();

  // Looks at every blob, and gives how many there are. Each must be what its hash says, and SQLite
  // must find nothing wrong with the file; what is wrong goes into `errors`.
  base::Result<std::uint64_t> check(base::Errors& errors);

 private:
  BlobsLook(std::unique_ptr<DatabaseLook> look, SqliteStatement find)
      : look_(std::move(look)), find_(std::move(find)) {}

  std::unique_ptr<DatabaseLook> look_;
  SqliteStatement find_;
  SqliteStatement find_number_;  // both made when they are needed
  SqliteStatement find_next_;
  bool has_find_number_ = false;
  base::Result<void> prepare_numbers();
};

}  // namespace holdfast::store
