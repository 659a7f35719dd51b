// SPDX-License-Identifier: Apache-2.0
#include "node/verify_history.h"

#include <array>
#include <optional>
#include <utility>

#include "base/sha256.h"
#include "node/history_changes.h"
#include "node/seed_history.h"
#include "store/history_index.h"
#include "store/history_look.h"
#include "store/history_statements.h"

namespace holdfast::node {
namespace {

constexpr std::size_t kRecordsPerBatch = 4096;

struct Table {
  const char* name;
  const char* rows;  // each as one text, in an order of their own
};

// All tables but the one that says whose they are. The order of columns is that of their making.
constexpr std::array<Table, 7> kTables{{
    {"cursor",
     "SELECT quote(version) || quote(begins) || ' ' || quote(record) || ' ' || "
     "quote(hash) || quote(last_id) || ' ' || quote(seeded) FROM cursor"},
    {"workflows", "SELECT quote(id) || ' ' || quote(name) FROM workflows ORDER BY id"},
    {"instances",
     "SELECT quote(id) || ' ' || quote(workflow) || ' ' || quote(key) || quote(key_text) || "
     "quote(status) || quote(paused) || ' ' || quote(first_record) || ' ' || quote(first_ns) || "
     "' ' || quote(last_record) || ' ' || quote(last_ns) || ' ' || quote(steps) || ' ' || "
     "quote(annotations) || quote(error_code) || quote(error_message) || quote(ended) || ' ' || "
     "quote(dropped) || ' ' || quote(entries) || ' ' || quote(entry_bytes) "
     "FROM instances ORDER BY id"},
    {"entries",
     "SELECT quote(instance) || ' ' || quote(sequence) || ' ' || quote(value) "
     "FROM entries ORDER BY instance, sequence"},
    // Where the numbers of an instance's lines begin depends on how many came at a time.
    {"lines",
     "SELECT quote(l.rowid >> 20) || ' ' || quote((l.rowid & 1048575) - w.first) || ' ' || "
     "quote(l.text) FROM lines l LEFT JOIN windows w ON w.instance = l.rowid >> 20 "
     "ORDER BY l.rowid"},
    {"windows",
     "SELECT quote(instance) || ' ' || quote(next - first) || ' ' || quote(bytes) "
     "FROM windows ORDER BY instance"},
    {"counts",
     "SELECT quote(workflow) || ' ' || quote(status) || ' ' || quote(count) FROM counts "
     "ORDER BY workflow, status"},
}};

base::Result<void> make_again(const store::JournalFiles& journal,
                              const store::HistoryCursor& cursor, store::WorldFolder& scratch,
                              kernel::World* before,
                              const std::function<void(store::RecordNumber)>& progress) {
  const auto index = TRY(store::HistoryIndex::open(scratch));
  TRY(begin_history(*index, cursor.begins, before));
  const auto reader = TRY(journal.read(cursor.begins));
  store::HistoryBatch batch;
  while (reader->cursor() <= cursor.record) {
    store::RecordNumber last = 0;
    base::Hash hash;
    for (std::size_t i = 0; i < kRecordsPerBatch && reader->cursor() <= cursor.record; ++i) {
      const auto record = TRY(reader->next());
      if (!record) break;
      for (store::InstanceChange& change : changes_of(TRY(kernel::read_record(record->bytes))))
        batch.add(std::move(change));
      last = record->number;
      hash = base::sha256(record->bytes);
    }
    if (last == 0) break;
    batch.name([](base::ByteView key) { return kernel::key_text(key); });
    TRY(index->apply(batch, last, hash));
    batch.clear();
    if (progress) progress(last);
  }
  return {};
}

base::Error corrupt(const std::string& path, const std::string& where, std::string why) {
  return {base::ErrorCode::kCorrupt, path + (where.empty() ? "" : ", " + where), std::move(why)};
}

// What SQLite finds wrong with the file.
base::Result<void> check_file(store::DatabaseLook& look, base::Errors& errors) {
  auto whole = TRY(look.database().prepare("PRAGMA integrity_check(1)"));
  if (TRY(whole.step()) && whole.text(0) != "ok")
    errors.push_back(corrupt(look.path(), "", std::string(whole.text(0))));
  return {};
}

base::Result<std::uint64_t> compare(store::DatabaseLook& look, store::DatabaseLook& made,
                                    const Table& table, base::Errors& errors) {
  auto is = TRY(look.database().prepare(table.rows));
  auto should_be = TRY(made.database().prepare(table.rows));
  std::uint64_t rows = 0;
  for (;;) {
    const bool has = TRY(is.step());
    const bool should_have = TRY(should_be.step());
    if (!has && !should_have) return rows;
    ++rows;
    if (has && should_have && is.text(0) == should_be.text(0)) continue;
    errors.push_back(corrupt(look.path(),
                             std::string("row ") + std::to_string(rows) + " of " + table.name,
                             "is not what the records say"));
    return rows;
  }
}

// Where the tables begin in the file is not compared: SQLite finds that wrong by itself.
constexpr Table kSchema{"sqlite_schema",
                        "SELECT quote(type) || quote(name) || quote(tbl_name) || quote(sql) "
                        "FROM sqlite_schema ORDER BY type, name"};

}  // namespace

base::Result<void> verify_tables(const store::WorldPlace& world, const store::WorldPlace& made,
                                 const std::string& file, base::Errors& errors) {
  const auto is = TRY(store::DatabaseLook::open(world, file));
  const auto should_be = TRY(store::DatabaseLook::open(made, file));
  if (is == nullptr || should_be == nullptr) return {};
  TRY(compare(*is, *should_be, kSchema, errors));
  return {};
}

base::Result<HistoryFindings> verify_history(
    const store::JournalFiles& journal, const store::WorldPlace& world, store::WorldFolder& scratch,
    const SnapshotWorld& snapshot, base::Errors& errors,
    const std::function<void(store::RecordNumber)>& progress) {
  HistoryFindings findings;
  auto cursor = store::look_at_history(world);
  if (!cursor) {
    errors.push_back(std::move(cursor).error());
    return findings;
  }
  auto look = store::DatabaseLook::open(world, store::kHistoryFile);
  if (!look) {
    errors.push_back(std::move(look).error());
    return findings;
  }
  if (*look == nullptr) return findings;
  findings.is_there = true;
  // What cannot be read is damage of the file, whichever statement finds it.
  if (auto checked = check_file(**look, errors); !checked) {
    errors.push_back(std::move(checked).error());
    return findings;
  }
  // One of the version before is migrated when a node opens the world, and compared from then on.
  const auto version = store::version_of((*look)->database(), (*look)->path());
  if (version && *version == store::kHistoryVersionBefore) return findings;
  if (!*cursor || (*cursor)->begins < journal.first() || (*cursor)->record > journal.last())
    return findings;
  kernel::World* before = nullptr;
  if ((*cursor)->seeded != 0) {
    if (!snapshot) return findings;
    before = TRY(snapshot((*cursor)->seeded));
    if (before == nullptr) return findings;
  }
  TRY(make_again(journal, **cursor, scratch, before, progress));
  const auto made =
      TRY(store::DatabaseLook::open(store::WorldPlace::of(scratch), store::kHistoryFile));
  TRY(compare(**look, *made, kSchema, errors));
  for (const Table& table : kTables) {
    auto rows = compare(**look, *made, table, errors);
    if (!rows) {
      errors.push_back(std::move(rows).error());
      return findings;
    }
    findings.rows += *rows;
  }
  findings.is_compared = true;
  return findings;
}

}  // namespace holdfast::node
