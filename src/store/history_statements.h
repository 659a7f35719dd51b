// SPDX-License-Identifier: Apache-2.0
// The tables of the index of instances, and the statements that work on them.
#pragma once

#include <string>

#include "store/history_index.h"

namespace holdfast::store {

inline constexpr std::uint64_t kHistoryVersion = 4;

// In this one the full text of an instance was one row of the table `said`. It is migrated when the
// index is opened; whoever only looks finds the same rows of instances in it.
inline constexpr std::uint64_t kHistoryVersionBefore = 3;

// Of an index that has a cursor; 0: it has none. kConflict: it must be made again.
base::Result<std::uint64_t> version_of(SqliteDatabase& database, const std::string& path);

// Lines have numbers of their own: that of the instance, and a number within it.
inline constexpr unsigned kLineBits = 20;
constexpr std::uint64_t first_line_of(std::uint64_t instance) { return instance << kLineBits; }

// Splits the texts of a version before into lines.
base::Result<void> migrate_texts(SqliteDatabase& database);

struct HistoryIndex::Statements {
  static base::Result<std::unique_ptr<Statements>> prepare(SqliteDatabase& database);

  SqliteStatement put_instance;
  SqliteStatement find_put;
  SqliteStatement find_instance;
  SqliteStatement put_workflow;
  SqliteStatement find_workflow;
  SqliteStatement put_cursor;
  SqliteStatement find_lines;
  SqliteStatement put_line;
  SqliteStatement drop_line;
  SqliteStatement find_window;
  SqliteStatement put_window;
  SqliteStatement drop_window;
  SqliteStatement find_by_id;
  SqliteStatement put_entry;
  SqliteStatement drop_entries;  // up to a sequence
  SqliteStatement old_entries;
  SqliteStatement find_entries;
  SqliteStatement put_dropped;
  SqliteStatement forget;
  SqliteStatement find_over;
  SqliteStatement first_over;
  SqliteStatement between_over;
  SqliteStatement put_rate;
  SqliteStatement drop_rates;  // before a slot
};

// The columns of a row, in the order in which read_row takes them.
inline constexpr const char* kRowColumns =
    "i.id, w.name, i.key, i.key_text, i.status, i.paused, i.first_record, i.first_ns, "
    "i.last_record, i.last_ns, i.steps, i.annotations, i.error_code, i.error_message, i.ended, "
    "i.dropped";

// Nothing: it has seen nothing. kConflict, kCorrupt: it must be made again.
base::Result<std::optional<HistoryCursor>> read_cursor(SqliteDatabase& database,
                                                       const std::string& path);

InstanceRow read_row(const SqliteStatement& statement);

// Whether such a row is one that was asked for, but for the words.
bool fits(const SqliteStatement& row, const HistoryQuery& query);

// Whether a status is among those of a query.
bool is_among(std::string_view status, std::string_view statuses) noexcept;

// Every table but the one that says whose they are. `counts` is kept by triggers, so that a
// program that does not know of it keeps it, too; an index of before is counted when it is opened.
// An instance keeps its id when its key begins again, unless it was forgotten; no id is given
// twice. Secondary indexes end with the id, which is the order of lists.
inline constexpr const char* kHistorySchema = R"(
  CREATE TABLE IF NOT EXISTS cursor(
    one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, begins INTEGER NOT NULL,
    record INTEGER NOT NULL, hash BLOB NOT NULL, last_id INTEGER NOT NULL,
    seeded INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS workflows(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS instances(
    id INTEGER PRIMARY KEY, workflow INTEGER NOT NULL, key BLOB NOT NULL, key_text TEXT NOT NULL,
    status TEXT NOT NULL, paused INTEGER NOT NULL, first_record INTEGER NOT NULL,
    first_ns INTEGER NOT NULL, last_record INTEGER NOT NULL, last_ns INTEGER NOT NULL,
    steps INTEGER NOT NULL, annotations INTEGER NOT NULL, error_code TEXT NOT NULL,
    error_message TEXT NOT NULL, ended INTEGER NOT NULL, dropped INTEGER NOT NULL,
    entries INTEGER NOT NULL, entry_bytes INTEGER NOT NULL, UNIQUE (workflow, key));
  CREATE INDEX IF NOT EXISTS by_workflow ON instances(workflow);
  CREATE INDEX IF NOT EXISTS by_status ON instances(status);
  CREATE INDEX IF NOT EXISTS by_workflow_and_status ON instances(workflow, status);
  CREATE INDEX IF NOT EXISTS by_end ON instances(last_ns)
    WHERE status IN ('completed', 'failed', 'cancelled', 'deleted');
  CREATE INDEX IF NOT EXISTS by_code ON instances(error_code) WHERE error_code <> '';
  CREATE INDEX IF NOT EXISTS by_paused ON instances(paused) WHERE paused = 1;
  CREATE TABLE IF NOT EXISTS rates(
    slot INTEGER PRIMARY KEY, begun INTEGER NOT NULL, completed INTEGER NOT NULL,
    failed INTEGER NOT NULL, cancelled INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS entries(
    instance INTEGER NOT NULL, sequence INTEGER NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (instance, sequence)) WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS lines USING fts5(text);
  CREATE TABLE IF NOT EXISTS windows(
    instance INTEGER PRIMARY KEY, first INTEGER NOT NULL, next INTEGER NOT NULL,
    bytes INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS counts(
    workflow INTEGER NOT NULL, status TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (workflow, status)) WITHOUT ROWID;
  INSERT INTO counts SELECT workflow, status, count(*) FROM instances
    WHERE NOT EXISTS (SELECT 1 FROM counts) GROUP BY workflow, status;
  CREATE TRIGGER IF NOT EXISTS count_new AFTER INSERT ON instances BEGIN
    INSERT INTO counts VALUES (new.workflow, new.status, 1)
      ON CONFLICT DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER IF NOT EXISTS count_changed AFTER UPDATE OF status ON instances
    WHEN old.status <> new.status BEGIN
    UPDATE counts SET count = count - 1 WHERE workflow = old.workflow AND status = old.status;
    DELETE FROM counts WHERE workflow = old.workflow AND status = old.status AND count = 0;
    INSERT INTO counts VALUES (new.workflow, new.status, 1)
      ON CONFLICT DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER IF NOT EXISTS count_gone AFTER DELETE ON instances BEGIN
    UPDATE counts SET count = count - 1 WHERE workflow = old.workflow AND status = old.status;
    DELETE FROM counts WHERE workflow = old.workflow AND status = old.status AND count = 0;
  END;
)";

// Those that the index by_end has.
inline constexpr const char* kIsOver = "status IN ('completed', 'failed', 'cancelled', 'deleted')";

// Of those, the ones that were touched first. Left alone, SQLite takes the index of statuses, and
// sorts everything that is over; a statement that cannot use the index that it names is refused.
inline const std::string kFindOver =
    std::string(
        "SELECT w.name, i.key, i.last_record FROM instances i INDEXED BY by_end "
        "CROSS JOIN workflows w ON w.id = i.workflow WHERE i.") +
    kIsOver +
    " AND i.last_ns <= ?1 AND (?3 = 0 OR i.workflow = ?3) AND i.workflow NOT IN (?4, ?5) "
    "ORDER BY i.last_ns LIMIT ?2";
inline const std::string kFirstOver =
    std::string("SELECT last_ns FROM instances INDEXED BY by_end WHERE ") + kIsOver +
    " AND (?1 = 0 OR workflow = ?1) AND workflow NOT IN (?2, ?3) ORDER BY last_ns LIMIT 1";

// Those of one workflow, by key.
inline const std::string kBetweenOver =
    std::string(
        "SELECT key, last_record FROM instances WHERE workflow = ?1 AND key >= ?2 AND "
        "key < ?3 AND ") +
    kIsOver + " ORDER BY key LIMIT ?4";

}  // namespace holdfast::store
