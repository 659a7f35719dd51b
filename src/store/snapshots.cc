// SPDX-License-Identifier: Apache-2.0
#include "store/snapshots.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"

namespace holdfast::store {
namespace {

// Whatever has a number up to `floor` was put before: the snapshot names it, or it is not used.
constexpr const char* kInsertSnapshot = R"(
  INSERT INTO snapshots(next_record, hash, lineage, time_ns, floor)
    VALUES (?1, ?2, ?3, ?4, (SELECT seq FROM sqlite_sequence WHERE name = 'blobs'))
)";

std::string name_of(RecordNumber record) { return "record " + std::to_string(record); }

// The hash of the record before `next_record`.
base::Result<base::Hash> lineage_at(Journal& journal, RecordNumber next_record) {
  if (next_record == 1) return base::Hash{};
  const auto reader = TRY(journal.read(next_record - 1));
  const auto record = TRY(reader->next());
  if (!record) {
    return base::Error(base::ErrorCode::kConflict, name_of(next_record - 1),
                       "the journal is durable up to record " + std::to_string(journal.durable()));
  }
  return base::sha256(record->bytes);
}

base::Hash hash_in(base::ByteView bytes) {
  base::Hash hash;
  if (bytes.size() == hash.bytes.size()) std::ranges::copy(bytes, hash.bytes.begin());
  return hash;
}

}  // namespace

Snapshots::Snapshots(BlobStore& blobs, Statements statements)
    : blobs_(blobs), statements_(std::move(statements)) {}

base::Result<std::unique_ptr<Snapshots>> Snapshots::open(BlobStore& blobs) {
  SqliteDatabase& database = blobs.database();
  Statements statements;
  statements.list = TRY(database.prepare(kListSnapshots));
  statements.insert = TRY(database.prepare(kInsertSnapshot));
  statements.remove = TRY(database.prepare("DELETE FROM snapshots WHERE number = ?1"));
  return std::unique_ptr<Snapshots>(new Snapshots(blobs, std::move(statements)));
}

base::Result<std::vector<SnapshotEntry>> Snapshots::list() {
  return read_snapshots(statements_.list);
}

base::Result<std::vector<SnapshotEntry>> read_snapshots(SqliteStatement& select) {
  std::vector<SnapshotEntry> entries;
  while (TRY(select.step())) {
    SnapshotEntry entry;
    entry.number = static_cast<std::uint64_t>(select.number(0));
    entry.next_record = static_cast<RecordNumber>(std::max<std::int64_t>(select.number(1), 1));
    entry.hash = hash_in(select.bytes(2));
    entry.lineage = hash_in(select.bytes(3));
    entry.time_ns = select.number(4);
    entries.push_back(entry);
  }
  return entries;
}

base::Result<SnapshotEntry> Snapshots::add(Journal& journal, RecordNumber next_record,
                                           base::ByteView bytes, std::int64_t time_ns,
                                           std::size_t keep) {
  CHECK(keep > 0);
  SnapshotEntry entry;
  entry.next_record = next_record;
  entry.time_ns = time_ns;
  entry.lineage = TRY(lineage_at(journal, next_record));
  entry.hash = TRY(blobs_.put(bytes));
  TRY(blobs_.transact([&] { return insert(entry, keep); }));
  return TRY(list()).front();
}

base::Result<void> Snapshots::insert(const SnapshotEntry& entry, std::size_t keep) {
  statements_.insert.bind(1, static_cast<std::int64_t>(entry.next_record));
  statements_.insert.bind(2, base::ByteView(entry.hash.bytes));
  statements_.insert.bind(3, base::ByteView(entry.lineage.bytes));
  statements_.insert.bind(4, entry.time_ns);
  TRY(statements_.insert.step());
  // Two after the same record are one way back to the state, and not two: the newer one stays.
  std::set<RecordNumber> kept;
  for (const SnapshotEntry& each : TRY(list())) {
    const bool is_kept = !kept.contains(each.next_record) && kept.size() < keep;
    if (is_kept) kept.insert(each.next_record);
    if (!is_kept && !pins_.contains(each.number)) TRY(remove(each));
  }
  return {};
}

base::Result<void> Snapshots::remove(const SnapshotEntry& entry) {
  statements_.remove.bind(1, static_cast<std::int64_t>(entry.number));
  TRY(statements_.remove.step());
  return {};
}

base::Result<base::Bytes> Snapshots::read(Journal& journal, const SnapshotEntry& entry) {
  if (entry.next_record > journal.durable() + 1) {
    return base::Error(base::ErrorCode::kConflict, name_of(journal.durable() + 1),
                       "the journal ends before it; it was there when the snapshot was taken");
  }
  const base::Hash lineage = TRY(lineage_at(journal, entry.next_record));
  if (lineage != entry.lineage) {
    return base::Error(base::ErrorCode::kConflict, name_of(entry.next_record - 1),
                       "the journal has another record there than the one the snapshot was taken "
                       "after");
  }
  return blobs_.get(entry.hash);
}

base::Result<void> Snapshots::forget(const std::vector<SnapshotEntry>& entries) {
  if (entries.empty()) return {};
  return blobs_.transact([&]() -> base::Result<void> {
    for (const SnapshotEntry& entry : entries) TRY(remove(entry));
    return {};
  });
}

Snapshots::Pin::Pin(Snapshots& snapshots, std::uint64_t number)
    : snapshots_(snapshots), number_(number) {
  ++snapshots_.pins_[number_];
}

Snapshots::Pin::~Pin() {
  const auto found = snapshots_.pins_.find(number_);
  if (--found->second == 0) snapshots_.pins_.erase(found);
}

RecordNumber records_needed(const std::vector<SnapshotEntry>& entries, std::size_t keep) {
  std::set<RecordNumber> taken_before;
  for (const SnapshotEntry& entry : entries) taken_before.insert(entry.next_record);
  if (taken_before.empty() || taken_before.size() < keep) return 1;
  return std::max<RecordNumber>(*taken_before.begin() - 1, 1);
}

}  // namespace holdfast::store
