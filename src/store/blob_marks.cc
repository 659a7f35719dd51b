// SPDX-License-Identifier: Apache-2.0
#include "store/blob_marks.h"

namespace holdfast::store {
namespace {

// A row comes back when the mark is new.
constexpr const char* kMark =
    "INSERT INTO marks VALUES (?1, ?2) ON CONFLICT DO NOTHING RETURNING blob";

}  // namespace

base::Result<BlobMarks> BlobMarks::open(BlobStore& blobs) {
  SqliteDatabase& database = blobs.database();
  BlobMarks marks;
  marks.find_ = TRY(database.prepare("SELECT id FROM blobs WHERE hash = ?1"));
  marks.mark_ = TRY(database.prepare(kMark));
  marks.clear_ = TRY(database.prepare("DELETE FROM marks"));
  return marks;
}

base::Result<void> BlobMarks::clear() {
  TRY(clear_.step());
  return {};
}

base::Result<bool> BlobMarks::add(const BlobReference& reference) {
  find_.bind(1, base::ByteView(reference.hash.bytes));
  if (!TRY(find_.step())) {
    return base::Error(base::ErrorCode::kNotFound, reference.hash.to_text(),
                       "a snapshot needs this blob, and it is not there");
  }
  const std::int64_t id = find_.number(0);
  find_.reset();
  mark_.bind(1, id);
  mark_.bind(2, std::int64_t{reference.kind});
  const bool is_new = TRY(mark_.step());
  mark_.reset();
  return is_new;
}

}  // namespace holdfast::store
