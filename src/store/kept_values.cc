// SPDX-License-Identifier: Apache-2.0
#include "store/kept_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sha256.h"
#include "store/history_statements.h"

namespace holdfast::store {
namespace {

// Each with a key of two numbers, which are not negative, in front of its value.
constexpr const char* kTables[] = {
    "SELECT instance, sequence, value FROM entries "
    "WHERE (instance, sequence) > (?1, ?2) ORDER BY instance, sequence",
    "SELECT rowid, 0, text FROM lines WHERE rowid > ?1 AND ?2 = 0 ORDER BY rowid",
};

// Instead of the last, in an index that was not migrated yet.
constexpr const char* kTextsBefore =
    "SELECT rowid, 0, text FROM said WHERE rowid > ?1 AND ?2 = 0 ORDER BY rowid";

}  // namespace

base::Result<BlobValues> BlobValues::open(BlobStore& blobs) {
  TRY(blobs.sync());
  SqliteDatabase& database = blobs.database();
  BlobValues values;
  auto last = TRY(database.prepare("SELECT ifnull(max(id), 0) FROM blobs"));
  TRY(last.step());
  values.last_ = last.number(0);
  values.next_ = TRY(
      database.prepare("SELECT id, hash, bytes FROM blobs WHERE id > ?1 AND id <= ?2 ORDER BY id"));
  return values;
}

base::Result<bool> BlobValues::next(std::size_t bytes, const ShowValue& show) {
  next_.bind(1, at_);
  next_.bind(2, last_);
  for (std::size_t shown = 0; shown < bytes;) {
    if (!TRY(next_.step())) return false;
    at_ = next_.number(0);
    const base::ByteView hash = next_.bytes(1);
    const base::ByteView blob = next_.bytes(2);
    if (!std::ranges::equal(base::sha256(blob).bytes, hash)) {
      next_.reset();
      return base::Error(base::ErrorCode::kCorrupt, kKernelBlobs,
                         "blob number " + std::to_string(at_) + " is damaged");
    }
    if (auto done = show(blob); !done) {
      next_.reset();
      return std::move(done).error();
    }
    shown += blob.size() + 1;
  }
  next_.reset();
  return true;
}

base::Result<bool> RecordValues::next(std::size_t bytes, const ShowValue& show) {
  for (std::size_t shown = 0; shown < bytes;) {
    if (reader_->cursor() > last_) return false;
    const auto record = TRY(reader_->next());
    if (!record) return false;
    TRY(show(record->bytes));
    shown += record->bytes.size() + 1;
  }
  return true;
}

base::Result<IndexValues> IndexValues::open(SqliteDatabase& index) {
  IndexValues values;
  const bool is_before = TRY(version_of(index, kHistoryFile)) == kHistoryVersionBefore;
  for (const char* table : kTables) {
    const bool is_texts = table == *std::rbegin(kTables);
    values.tables_.push_back(TRY(index.prepare(is_texts && is_before ? kTextsBefore : table)));
  }
  return values;
}

base::Result<bool> IndexValues::next(std::size_t bytes, const ShowValue& show) {
  for (std::size_t shown = 0; shown < bytes && !tables_.empty();) {
    SqliteStatement& table = tables_.back();
    table.bind(1, at_[0]);
    table.bind(2, at_[1]);
    bool has_row = false;
    while (shown < bytes && (has_row = TRY(table.step()))) {
      at_[0] = table.number(0);
      at_[1] = table.number(1);
      TRY(show(table.bytes(2)));
      shown += table.bytes(2).size() + 1;
    }
    table.reset();
    if (has_row) return true;
    tables_.pop_back();
    at_[0] = at_[1] = 0;
  }
  return !tables_.empty();
}

}  // namespace holdfast::store
