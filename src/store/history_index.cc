// SPDX-License-Identifier: Apache-2.0
#include "store/history_index.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "store/history_statements.h"

namespace holdfast::store {
namespace {

// ?14: whether the instance begins here; ?15: the record that the row must show then. The row of an
// instance that goes on is changed by the record that follows, and by no other. ?16: whether it had
// ended before, so that its error stays. ?17: the id, if there is no row yet.
constexpr const char* kPutInstance = R"(
  INSERT INTO instances(id, workflow, key, key_text, status, paused, first_record, first_ns,
                        last_record, last_ns, steps, annotations, error_code, error_message,
                        ended, dropped, entries, entry_bytes)
  VALUES (?17, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?18, 0, ?19, ?20)
  ON CONFLICT(workflow, key) DO UPDATE SET
    status = excluded.status, paused = excluded.paused,
    first_record = iif(?14, excluded.first_record, first_record),
    first_ns = iif(?14, excluded.first_ns, first_ns),
    last_record = excluded.last_record, last_ns = excluded.last_ns,
    steps = excluded.steps + iif(?14, 0, steps),
    annotations = excluded.annotations + iif(?14, 0, annotations),
    error_code = iif(?16, error_code, excluded.error_code),
    error_message = iif(?16, error_message, excluded.error_message),
    ended = iif(?14 OR excluded.ended > 0, excluded.ended, ended),
    dropped = iif(?14, 0, dropped),
    entries = excluded.entries + iif(?14, 0, entries),
    entry_bytes = excluded.entry_bytes + iif(?14, 0, entry_bytes)
  WHERE ?14 OR last_record = ?15)";

// ?3: whatever it shows; else only if it is over and shows record ?4 or one before.
const std::string kForget =
    std::string("DELETE FROM instances WHERE workflow = ?1 AND key = ?2 AND (?3 OR (") + kIsOver +
    " AND last_record <= ?4)) RETURNING id, annotations, entries";

// What an entry counts for besides its value.
constexpr std::uint64_t kEntryBytes = 16;

// The database has signed numbers.
constexpr std::uint64_t kLastNumber = std::numeric_limits<std::int64_t>::max();

std::uint64_t bytes_of(const std::vector<StreamEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const StreamEntry& entry : entries) bytes += entry.value.size() + kEntryBytes;
  return bytes;
}

}  // namespace

// Before anything else is asked: the tables of another version may have other columns.
base::Result<std::uint64_t> version_of(SqliteDatabase& database, const std::string& path) {
  auto select = TRY(database.prepare("SELECT version FROM cursor"));
  if (!TRY(select.step())) return std::uint64_t{0};
  const std::uint64_t version = select.nat(0);
  if (version == kHistoryVersion || version == kHistoryVersionBefore) return version;
  return base::Error(base::ErrorCode::kConflict, path,
                     "has tables of version " + std::to_string(version) +
                         ", and this program knows version " + std::to_string(kHistoryVersion));
}

base::Result<std::unique_ptr<HistoryIndex::Statements>> HistoryIndex::Statements::prepare(
    SqliteDatabase& database) {
  const std::string find =
      std::string("SELECT ") + kRowColumns +
      " FROM instances i JOIN workflows w ON w.id = i.workflow WHERE w.name = ?1 AND i.key = ?2";
  auto all = std::make_unique<Statements>();
  all->put_instance = TRY(database.prepare(kPutInstance));
  all->find_put = TRY(database.prepare(
      "SELECT id, entries, entry_bytes FROM instances WHERE workflow = ?1 AND key = ?2"));
  all->find_instance = TRY(database.prepare(find));
  all->put_workflow = TRY(database.prepare("INSERT INTO workflows(name) VALUES (?1) RETURNING id"));
  all->find_workflow = TRY(database.prepare("SELECT id FROM workflows WHERE name = ?1"));
  all->put_cursor =
      TRY(database.prepare("INSERT OR REPLACE INTO cursor VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)"));
  all->find_lines = TRY(database.prepare(
      "SELECT rowid, text FROM lines WHERE rowid >= ?1 AND rowid < ?2 ORDER BY rowid"));
  all->put_line = TRY(database.prepare("INSERT INTO lines(rowid, text) VALUES (?1, ?2)"));
  all->drop_line = TRY(database.prepare("DELETE FROM lines WHERE rowid = ?1"));
  all->find_window =
      TRY(database.prepare("SELECT first, next, bytes FROM windows WHERE instance = ?1"));
  all->put_window = TRY(database.prepare("INSERT OR REPLACE INTO windows VALUES (?1, ?2, ?3, ?4)"));
  all->drop_window = TRY(database.prepare("DELETE FROM windows WHERE instance = ?1"));
  all->find_by_id = TRY(
      database.prepare(std::string("SELECT ") + kRowColumns +
                       " FROM instances i JOIN workflows w ON w.id = i.workflow WHERE i.id = ?1"));
  all->put_entry = TRY(database.prepare("INSERT INTO entries VALUES (?1, ?2, ?3)"));
  all->drop_entries =
      TRY(database.prepare("DELETE FROM entries WHERE instance = ?1 AND sequence <= ?2"));
  all->old_entries = TRY(database.prepare(
      "SELECT sequence, length(value) FROM entries WHERE instance = ?1 ORDER BY sequence"));
  all->find_entries =
      TRY(database.prepare("SELECT sequence, value FROM entries WHERE instance = ?1 AND sequence > "
                           "?2 ORDER BY sequence LIMIT ?3"));
  all->put_dropped = TRY(database.prepare(
      "UPDATE instances SET dropped = ?2, entries = ?3, entry_bytes = ?4 WHERE id = ?1"));
  all->forget = TRY(database.prepare(kForget));
  all->find_over = TRY(database.prepare(kFindOver));
  all->first_over = TRY(database.prepare(kFirstOver));
  all->between_over = TRY(database.prepare(kBetweenOver));
  all->put_rate = TRY(
      database.prepare("INSERT INTO rates VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET "
                       "begun = begun + ?2, completed = completed + ?3, failed = failed + ?4, "
                       "cancelled = cancelled + ?5"));
  all->drop_rates = TRY(database.prepare("DELETE FROM rates WHERE slot < ?1"));
  return all;
}

HistoryIndex::HistoryIndex(WorldDatabase database, std::unique_ptr<Statements> statements)
    : database_(std::move(database)), statements_(std::move(statements)) {}

HistoryIndex::~HistoryIndex() = default;

base::Result<std::unique_ptr<HistoryIndex>> HistoryIndex::open(WorldFolder& world,
                                                               const std::string& file) {
  WorldDatabase database = TRY(open_world_database(world, file, kHistorySchema));
  const std::string path = world.path() + "/" + file;
  if (TRY(version_of(database.database, path)) == kHistoryVersionBefore)
    TRY(migrate_texts(database.database));
  auto statements = TRY(Statements::prepare(database.database));
  std::unique_ptr<HistoryIndex> index(new HistoryIndex(std::move(database), std::move(statements)));
  TRY(index->read_state(path));
  return index;
}

base::Result<void> HistoryIndex::read_state(const std::string& path) {
  workflows_.clear();
  cursor_ = TRY(read_cursor(database_.database, path)).value_or(HistoryCursor{});
  auto last = TRY(database_.database.prepare("SELECT last_id FROM cursor"));
  last_id_ = TRY(last.step()) ? last.nat(0) : 0;
  return {};
}

base::Result<std::optional<HistoryCursor>> read_cursor(SqliteDatabase& database,
                                                       const std::string& path) {
  TRY(version_of(database, path));
  auto select = TRY(database.prepare("SELECT begins, record, hash, seeded FROM cursor"));
  if (!TRY(select.step())) return std::optional<HistoryCursor>();
  const base::ByteView hash = select.bytes(2);
  HistoryCursor cursor{select.nat(0), select.nat(1), {}, select.nat(3)};
  if (hash.size() != cursor.hash.bytes.size())
    return base::Error(base::ErrorCode::kCorrupt, path, "the hash of its cursor is no hash");
  std::copy(hash.begin(), hash.end(), cursor.hash.bytes.begin());
  return std::optional(cursor);
}

void HistoryIndex::begin_with(RecordNumber first, RecordNumber seeded) {
  CHECK(cursor_.record == 0 && first > 0);
  cursor_.begins = first;
  cursor_.seeded = seeded;
  cursor_.record = first - 1;
}

base::Result<void> HistoryIndex::apply(const HistoryBatch& batch, RecordNumber record,
                                       const base::Hash& hash) {
  if (ended_)
    return base::Error(base::ErrorCode::kIo, kHistoryFile, "the index has ended: " + *ended_);
  CHECK(record >= cursor_.record);
  const HistoryCursor cursor{cursor_.begins, record, hash, cursor_.seeded};
  const std::uint64_t last_id = last_id_;
  auto written = write(batch, cursor);
  if (!written) {
    last_id_ = last_id;
    return undo(std::move(written).error());
  }
  cursor_ = cursor;
  return {};
}

base::Result<void> HistoryIndex::write(const HistoryBatch& batch, const HistoryCursor& cursor) {
  TRY(database_.database.run("BEGIN IMMEDIATE"));
  rates_.clear();
  for (const HistoryBatch::Entry& entry : batch.entries())
    TRY(entry.latest.forgets ? forget(entry) : write_entry(entry));
  TRY(write_rates());
  TRY(write_cursor(cursor));
  return database_.database.run("COMMIT");
}

// Of a transaction that failed, nothing may be left, here or there.
base::Error HistoryIndex::undo(base::Error error) {
  workflows_.clear();
  const bool undone =
      !database_.database.is_in_transaction() || database_.database.run("ROLLBACK").has_value();
  const bool goes_on = undone && error.code() == base::ErrorCode::kUnavailable;
  if (!goes_on) ended_ = error.to_string();
  return error;
}

base::Result<std::uint64_t> HistoryIndex::workflow_id(const std::string& name) {
  if (const auto known = workflows_.find(name); known != workflows_.end()) return known->second;
  SqliteStatement& find = statements_->find_workflow;
  find.bind(1, std::string_view(name));
  bool found = TRY(find.step());
  SqliteStatement& source = found ? find : statements_->put_workflow;
  if (!found) {
    source.bind(1, std::string_view(name));
    found = TRY(source.step());
  }
  CHECK(found);
  const std::uint64_t id = source.nat(0);
  source.reset();
  workflows_.emplace(name, id);
  return id;
}

base::Result<void> HistoryIndex::write_entry(const HistoryBatch::Entry& entry) {
  const InstanceChange& change = entry.latest;
  const auto [first_record, first_ns] = entry.began.value_or(std::pair(RecordNumber{0}, 0));
  SqliteStatement& put = statements_->put_instance;
  const std::uint64_t workflow = TRY(workflow_id(change.workflow));
  put.bind(1, workflow);
  put.bind(2, base::ByteView(change.key));
  put.bind(3, std::string_view(change.key_text));
  put.bind(4, std::string_view(change.status));
  put.bind(5, std::uint64_t{change.paused});
  put.bind(6, first_record);
  put.bind(7, first_ns);
  put.bind(8, change.record);
  put.bind(9, change.time_ns);
  put.bind(10, change.steps);
  put.bind(11, entry.annotation_count);
  put.bind(12, std::string_view(change.error_code));
  put.bind(13, std::string_view(change.error_message));
  put.bind(14, std::uint64_t{entry.began.has_value()});
  put.bind(15, entry.previous);
  put.bind(16, std::uint64_t{change.keeps_error});
  put.bind(17, last_id_ + 1);
  put.bind(18, change.ended);
  put.bind(19, std::uint64_t{change.entries.size()});
  put.bind(20, bytes_of(change.entries));
  database_.database.forget_inserted_row();
  TRY(put.step());
  if (database_.database.changes() == 0) {
    return base::Error(base::ErrorCode::kConflict,
                       change.workflow + " " + change.key_text + " in " + kHistoryFile,
                       "does not show record " + std::to_string(entry.previous) +
                           ", which record " + std::to_string(change.record) + " follows");
  }
  // Most rows are new, and then everything is known. RETURNING would say it too, but at the cost of
  // a table in memory for every row.
  std::uint64_t id = last_id_ + 1;
  std::uint64_t count = change.entries.size();
  std::uint64_t bytes = bytes_of(change.entries);
  const bool is_new = database_.database.inserted_row() != 0;
  if (is_new) {
    last_id_ = id;
  } else {
    SqliteStatement& find = statements_->find_put;
    find.bind(1, workflow);
    find.bind(2, base::ByteView(change.key));
    const bool found = TRY(find.step());
    CHECK(found);
    id = find.nat(0);
    count = find.nat(1);
    bytes = find.nat(2);
    find.reset();
  }
  count_rates(entry);
  TRY(write_stream(entry, id, count, bytes, is_new));
  return write_annotations(entry, id, is_new);
}

base::Result<void> HistoryIndex::write_stream(const HistoryBatch::Entry& entry, std::uint64_t id,
                                              std::uint64_t count, std::uint64_t bytes,
                                              bool is_new) {
  if (entry.began && !is_new) TRY(drop_entries(id, kLastNumber));
  for (const StreamEntry& put_out : entry.latest.entries) {
    statements_->put_entry.bind(1, id);
    statements_->put_entry.bind(2, put_out.sequence);
    statements_->put_entry.bind(3, base::ByteView(put_out.value));
    TRY(statements_->put_entry.step());
  }
  if (count <= kMaxStreamEntries && bytes <= kMaxStreamBytes) return {};
  return cut_stream(id, count, bytes);
}

// The oldest go until the rest fits, so that it does not matter in how many portions they came.
base::Result<void> HistoryIndex::cut_stream(std::uint64_t id, std::uint64_t count,
                                            std::uint64_t bytes) {
  SqliteStatement& oldest = statements_->old_entries;
  oldest.bind(1, id);
  std::uint64_t dropped = 0;
  while (count > kMaxStreamEntries || bytes > kMaxStreamBytes) {
    const bool found = TRY(oldest.step());
    CHECK(found);
    dropped = oldest.nat(0);
    bytes -= oldest.nat(1) + kEntryBytes;
    --count;
  }
  oldest.reset();
  TRY(drop_entries(id, dropped));
  SqliteStatement& put = statements_->put_dropped;
  put.bind(1, id);
  put.bind(2, dropped);
  put.bind(3, count);
  put.bind(4, bytes);
  TRY(put.step());
  return {};
}

base::Result<void> HistoryIndex::drop_entries(std::uint64_t id, std::uint64_t up_to) {
  statements_->drop_entries.bind(1, id);
  statements_->drop_entries.bind(2, up_to);
  TRY(statements_->drop_entries.step());
  return {};
}

base::Result<void> HistoryIndex::forget(const HistoryBatch::Entry& entry) {
  SqliteStatement& forget = statements_->forget;
  forget.bind(1, TRY(workflow_id(entry.latest.workflow)));
  forget.bind(2, base::ByteView(entry.latest.key));
  forget.bind(3, std::uint64_t{entry.is_gone});
  // A record may name one that is yet to come.
  forget.bind(4, std::min<std::uint64_t>(entry.previous, kLastNumber));
  if (!TRY(forget.step())) {
    // It came and went with this batch. With two, it would have had an id.
    if (entry.is_gone) ++last_id_;
    return {};
  }
  const std::uint64_t id = forget.nat(0);
  const bool has_text = forget.nat(1) != 0;
  const bool has_entries = forget.nat(2) != 0;
  forget.reset();
  if (has_entries || entry.is_gone) TRY(drop_entries(id, kLastNumber));
  if (!has_text && !entry.is_gone) return {};
  return drop_lines(id);
}

// An event for an instance that was not there leaves a row that is deleted: nothing began.
void HistoryIndex::count_rates(const HistoryBatch::Entry& entry) {
  const InstanceChange& change = entry.latest;
  if (entry.began && change.status != "deleted") ++rates_[entry.began->second / kRateSlotNs].begun;
  if (change.ended == 0) return;
  const std::uint64_t slot = change.time_ns / kRateSlotNs;
  if (change.status == "completed") ++rates_[slot].completed;
  if (change.status == "failed") ++rates_[slot].failed;
  if (change.status == "cancelled") ++rates_[slot].cancelled;
}

// Once a batch, not once an instance.
base::Result<void> HistoryIndex::write_rates() {
  if (rates_.empty()) return {};
  SqliteStatement& put = statements_->put_rate;
  for (const auto& [slot, rate] : rates_) {
    put.bind(1, slot);
    put.bind(2, rate.begun);
    put.bind(3, rate.completed);
    put.bind(4, rate.failed);
    put.bind(5, rate.cancelled);
    TRY(put.step());
  }
  constexpr std::uint64_t kKept = kRatesKeptNs / kRateSlotNs;
  const std::uint64_t last = rates_.rbegin()->first;
  statements_->drop_rates.bind(1, last - std::min(last, kKept));
  TRY(statements_->drop_rates.step());
  return {};
}

base::Result<void> HistoryIndex::write_cursor(const HistoryCursor& cursor) {
  SqliteStatement& put = statements_->put_cursor;
  put.bind(1, kHistoryVersion);
  put.bind(2, cursor.begins);
  put.bind(3, cursor.record);
  put.bind(4, base::ByteView(cursor.hash.bytes));
  put.bind(5, last_id_);
  put.bind(6, cursor.seeded);
  TRY(put.step());
  return {};
}

}  // namespace holdfast::store
