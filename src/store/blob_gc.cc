// SPDX-License-Identifier: Apache-2.0
#include "store/blob_gc.h"

#include <utility>

#include "base/check.h"

namespace holdfast::store {
namespace {

constexpr const char* kFloor = "SELECT floor FROM snapshots ORDER BY number DESC LIMIT 1";

// The last one of the next so many, and how many there are.
constexpr const char* kSliceEnd = R"(
  SELECT max(id), count(*) FROM
    (SELECT id FROM blobs WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3)
)";

constexpr const char* kSweep = R"(
  DELETE FROM blobs WHERE id > ?1 AND id <= ?2
    AND NOT EXISTS (SELECT 1 FROM marks WHERE marks.blob = blobs.id)
    AND NOT EXISTS (SELECT 1 FROM touched WHERE touched.blob = blobs.id)
    RETURNING length(bytes)
)";

}  // namespace

BlobGc::BlobGc(BlobStore& blobs, BlobShapes shapes, BlobMarks marks, Statements statements,
               std::uint64_t collection)
    : blobs_(blobs),
      shapes_(std::move(shapes)),
      marks_(std::move(marks)),
      statements_(std::move(statements)),
      collection_(collection) {}

base::Result<std::unique_ptr<BlobGc>> BlobGc::begin(BlobStore& blobs, Snapshots& snapshots,
                                                    BlobShapes shapes) {
  SqliteDatabase& database = blobs.database();
  Statements statements;
  statements.slice_end = TRY(database.prepare(kSliceEnd));
  statements.sweep = TRY(database.prepare(kSweep));
  BlobMarks marks = TRY(BlobMarks::open(blobs));
  std::unique_ptr<BlobGc> gc(new BlobGc(blobs, std::move(shapes), std::move(marks),
                                        std::move(statements), blobs.new_collection()));
  TRY(blobs.transact([&] { return gc->start(snapshots); }));
  return gc;
}

base::Result<void> BlobGc::start(Snapshots& snapshots) {
  TRY(marks_.clear());
  for (const SnapshotEntry& entry : TRY(snapshots.list()))
    waiting_.push_back({entry.hash, shapes_.snapshot});
  SqliteStatement floor = TRY(blobs_.database().prepare(kFloor));
  if (TRY(floor.step())) floor_ = floor.number(0);
  // What was put again before the last snapshot is reached by it, or not used.
  SqliteStatement forget = TRY(blobs_.database().prepare("DELETE FROM touched WHERE at < ?1"));
  forget.bind(1, floor_);
  TRY(forget.step());
  return {};
}

base::Result<GcProgress> BlobGc::step(std::size_t blobs) {
  if (is_over_ || !blobs_.is_current(collection_)) {
    return base::Error(base::ErrorCode::kConflict,
                       "this collection has ended; another one has to begin");
  }
  auto done = blobs_.transact([&] { return work(blobs); });
  is_over_ = !done || progress_.done;
  if (!done) return std::move(done).error();
  return progress_;
}

base::Result<void> BlobGc::work(std::size_t blobs) {
  CHECK(blobs > 0);
  for (; blobs > 0 && !waiting_.empty(); --blobs) {
    const BlobReference next = waiting_.back();
    waiting_.pop_back();
    TRY(mark(next));
  }
  return blobs == 0 ? base::Result<void>() : sweep(blobs);
}

base::Result<void> BlobGc::mark(const BlobReference& reference) {
  const bool is_new = TRY(marks_.add(reference));
  if (!is_new) return {};
  ++progress_.marked;
  if (reference.kind == BlobReference::kPlain) return {};
  const base::Bytes bytes = TRY(blobs_.get(reference.hash));
  auto named = shapes_.references_of(reference.kind, bytes);
  if (!named) return std::move(named).error().within(reference.hash.to_text());
  waiting_.insert(waiting_.end(), named->begin(), named->end());
  return {};
}

base::Result<void> BlobGc::sweep(std::size_t blobs) {
  statements_.slice_end.bind(1, swept_to_);
  statements_.slice_end.bind(2, floor_);
  statements_.slice_end.bind(3, static_cast<std::int64_t>(blobs));
  TRY(statements_.slice_end.step());
  const std::int64_t end = statements_.slice_end.number(0);
  const auto count = static_cast<std::uint64_t>(statements_.slice_end.number(1));
  statements_.slice_end.reset();
  progress_.looked_at += count;
  if (count > 0) {
    statements_.sweep.bind(1, swept_to_);
    statements_.sweep.bind(2, end);
    while (TRY(statements_.sweep.step())) {
      ++progress_.removed;
      progress_.removed_bytes += static_cast<std::uint64_t>(statements_.sweep.number(0));
    }
    swept_to_ = end;
  }
  if (count == blobs) return {};
  progress_.done = true;
  return marks_.clear();
}

}  // namespace holdfast::store
