// SPDX-License-Identifier: Apache-2.0
// HistoryIndex: one row for each instance of the world, in history.db, for lists, filters and
// search. It is derived from the journal and can be made again from it at any time; where it
// is wrong, it is made again and not repaired. Tables: docs/formats/history.md.
//
// Promises:
//  1. The cursor and the rows change together, and durably: no record is missed or counted twice,
//     whatever happens in between.
//  2. A row is only changed by the record that follows the one it shows; anything else is
//  kConflict.
//  3. kConflict and kCorrupt, also from open(), mean that it must be made again; kUnavailable (no
//     space) that nothing has changed, and one may try again; after any other error it has ended.
//
// For one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/history_rows.h"
#include "store/world_database.h"

namespace holdfast::store {

inline constexpr const char* kHistoryFile = "history.db";

// Whether the error says that the index must be made again; see store/history_rebuild.h.
inline bool needs_rebuild(const base::Error& error) noexcept {
  return error.code() == base::ErrorCode::kConflict || error.code() == base::ErrorCode::kCorrupt;
}

class HistoryIndex {
 public:
  // Opens the index, or begins it. The world must outlive it.
  static base::Result<std::unique_ptr<HistoryIndex>> open(WorldFolder& world,
                                                          const std::string& file = kHistoryFile);

  ~HistoryIndex();

  const HistoryCursor& cursor() const noexcept { return cursor_; }

  // Nothing can be written any more; open it again.
  bool has_ended() const noexcept { return ended_.has_value(); }

  // For an index that has seen nothing yet: the journal begins with this record. `seeded`: as in
  // the cursor.
  void begin_with(RecordNumber first, RecordNumber seeded = 0);

  // The changes of all records from the cursor up to `record`, whose hash this is.
  base::Result<void> apply(const HistoryBatch& batch, RecordNumber record, const base::Hash& hash);

  base::Result<HistoryPage> list(const HistoryQuery& query);
  // Of all instances, by workflow and status; as cheap with a million of them as with ten.
  base::Result<std::vector<InstanceCount>> counts();
  // How many began and ended from this time on, in steps.
  base::Result<std::vector<InstanceRate>> rates(std::uint64_t from_ns, std::uint64_t step_ns);
  base::Result<std::optional<InstanceRow>> find(std::string_view workflow, base::ByteView key);

  // What the instance has put out behind this sequence, so many entries and bytes at most, but one
  // at least; in order.
  base::Result<std::vector<StreamEntry>> stream(std::uint64_t id, std::uint64_t after,
                                                std::size_t limit, std::size_t bytes);

  // Those that are over and were last touched at this time or before, the oldest first.
  base::Result<std::vector<EndedInstance>> over_since(std::uint64_t last_ns, std::size_t limit,
                                                      const OverQuery& of = {});

  // The time of the oldest of them; nothing: none is over.
  base::Result<std::optional<std::uint64_t>> oldest_over_ns(const OverQuery& of = {});

  // Those of a workflow that are over, with keys from `first` on and before `end`.
  base::Result<std::vector<EndedInstance>> over_between(std::string_view workflow,
                                                        base::ByteView first, base::ByteView end,
                                                        std::size_t limit);

  // For whoever copies it.
  SqliteDatabase& database() noexcept { return database_.database; }

  // What the instance said, one line each, the newest that fit.
  base::Result<std::string> annotations(std::uint64_t id);

 private:
  struct Statements;
  HistoryIndex(WorldDatabase database, std::unique_ptr<Statements> statements);

  base::Result<std::uint64_t> id_of_workflow(std::string_view name);  // 0: there is none
  base::Result<void> bind_over(SqliteStatement& statement, int first, const OverQuery& of);
  base::Result<void> read_state(const std::string& path);
  base::Result<void> write(const HistoryBatch& batch, const HistoryCursor& cursor);
  base::Result<void> write_entry(const HistoryBatch::Entry& entry);
  base::Result<void> write_annotations(const HistoryBatch::Entry& entry, std::uint64_t id,
                                       bool is_new);
  base::Result<void> add_lines(std::uint64_t id, std::span<const std::string> lines);
  base::Result<void> drop_lines(std::uint64_t id);
  base::Result<HistoryPage> page_of(const HistoryQuery& query);
  base::Result<HistoryPage> merge_statuses(const HistoryQuery& query);
  base::Result<std::optional<HistoryPage>> find_keys(const HistoryQuery& query);
  base::Result<HistoryPage> scan(const HistoryQuery& query);
  base::Result<HistoryPage> search(const HistoryQuery& query);
  base::Result<void> write_stream(const HistoryBatch::Entry& entry, std::uint64_t id,
                                  std::uint64_t count, std::uint64_t bytes, bool is_new);
  base::Result<void> cut_stream(std::uint64_t id, std::uint64_t count, std::uint64_t bytes);
  base::Result<void> drop_entries(std::uint64_t id, std::uint64_t up_to);
  base::Result<void> forget(const HistoryBatch::Entry& entry);
  base::Result<std::uint64_t> workflow_id(const std::string& name);
  base::Result<void> write_cursor(const HistoryCursor& cursor);
  void count_rates(const HistoryBatch::Entry& entry);
  base::Result<void> write_rates();
  base::Error undo(base::Error error);

  WorldDatabase database_;
  std::unique_ptr<Statements> statements_;  // after what it is of
  HistoryCursor cursor_;

  // What is in the tables, so that it need not be looked up.
  std::map<std::string, std::uint64_t, std::less<>> workflows_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, InstanceRate> rates_;  // of the batch that is written, by slot
  std::optional<std::string> ended_;             // why
};

}  // namespace holdfast::store
