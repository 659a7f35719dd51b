// SPDX-License-Identifier: Apache-2.0
// BlobGc: removes the blobs that nobody needs, a slice at a time, so that it can run beside other
// work. Marks everything that the listed snapshots reach, then removes what has no mark.
//
// Promises:
//  1. It never removes what a snapshot that was listed when it began can reach, nor what was put
//     since the last snapshot: that is all a world in memory refers to. Snapshots may be added
//     and taken off the list while it runs.
//  2. A crash at any point loses nothing: the marks of a run that did not end are not used.
//  3. Memory does not grow with the number of blobs: the marks are in the file, and what waits to
//     be marked is what the blobs on one way down name.
//  4. When something that a snapshot needs is missing or damaged, nothing is removed.
//
// One at a time; for one thread at a time, together with the blobs.
#pragma once

#include <memory>
#include <vector>

#include "store/blob_marks.h"
#include "store/snapshots.h"

namespace holdfast::store {

struct GcProgress {
  std::uint64_t marked = 0;
  std::uint64_t looked_at = 0;  // to see whether they have a mark
  std::uint64_t removed = 0;
  std::uint64_t removed_bytes = 0;
  bool done = false;
};

class BlobGc {
 public:
  // Blobs and snapshots must outlive it. Without a snapshot everything is kept.
  static base::Result<std::unique_ptr<BlobGc>> begin(BlobStore& blobs, Snapshots& snapshots,
                                                     BlobShapes shapes);

  // Does the work of at most so many blobs. After an error it is over; begin another one.
  base::Result<GcProgress> step(std::size_t blobs);

 private:
  struct Statements {
    SqliteStatement slice_end;
    SqliteStatement sweep;
  };
  BlobGc(BlobStore& blobs, BlobShapes shapes, BlobMarks marks, Statements statements,
         std::uint64_t collection);

  base::Result<void> start(Snapshots& snapshots);
  base::Result<void> work(std::size_t blobs);
  base::Result<void> mark(const BlobReference& reference);
  base::Result<void> sweep(std::size_t blobs);

  BlobStore& blobs_;
  const BlobShapes shapes_;
  BlobMarks marks_;
  Statements statements_;
  const std::uint64_t collection_;
  std::vector<BlobReference> waiting_;
  std::int64_t floor_ = 0;     // blobs above it were put since the last snapshot
  std::int64_t swept_to_ = 0;  // blobs up to here were looked at
  GcProgress progress_;
  bool is_over_ = false;
};

}  // namespace holdfast::store
