// SPDX-License-Identifier: Apache-2.0
// Reading the index of instances.
#include <algorithm>
#include <limits>
#include <utility>

#include "store/history_statements.h"

namespace holdfast::store {
namespace {

// How many rows are looked at for one page, where no index tells which fit.
constexpr std::uint64_t kMostLookedAt = 20'000;

// Whether the indexes leave rows that do not fit.
bool must_look(const HistoryQuery& query) { return query.paused || query.since_ns > 0; }

std::string sql_of(const HistoryQuery& query) {
  std::string sql = std::string("SELECT ") + kRowColumns +
                    " FROM instances i JOIN workflows w ON w.id = i.workflow WHERE i.id < ?2";
  if (!query.workflow.empty())
    sql += " AND i.workflow = (SELECT id FROM workflows WHERE name = ?3)";
  if (!query.status.empty()) sql += " AND i.status = ?4";
  return sql + " ORDER BY i.id DESC LIMIT ?5";
}

}  // namespace

bool fits(const SqliteStatement& row, const HistoryQuery& query) {
  if (!query.workflow.empty() && row.text(1) != query.workflow) return false;
  if (!query.status.empty() && row.text(4) != query.status) return false;
  if (query.paused && (row.number(5) != 0) != *query.paused) return false;
  return row.nat(9) >= query.since_ns;
}

InstanceRow read_row(const SqliteStatement& from) {
  const base::ByteView key = from.bytes(2);
  return {
      .id = from.nat(0),
      .workflow = std::string(from.text(1)),
      .key = {key.begin(), key.end()},
      .key_text = std::string(from.text(3)),
      .status = std::string(from.text(4)),
      .paused = from.number(5) != 0,
      .first_record = from.nat(6),
      .first_ns = from.nat(7),
      .last_record = from.nat(8),
      .last_ns = from.nat(9),
      .steps = from.nat(10),
      .annotations = from.nat(11),
      .error_code = std::string(from.text(12)),
      .error_message = std::string(from.text(13)),
      .ended = from.nat(14),
      .dropped = from.nat(15),
  };
}

base::Result<HistoryPage> HistoryIndex::list(const HistoryQuery& query) {
  if (query.limit == 0 || query.limit > kMaxPageRows) {
    return base::Error(base::ErrorCode::kInvalid, "limit",
                       "must be from 1 to " + std::to_string(kMaxPageRows));
  }
  if (query.words.find_first_not_of(" \t\r\n\v\f") != std::string::npos) return search(query);
  auto select = TRY(database_.database.prepare(sql_of(query)));
  constexpr std::uint64_t kEnd = std::numeric_limits<std::int64_t>::max();
  select.bind(2, query.after == 0 ? kEnd : query.after);
  if (!query.workflow.empty()) select.bind(3, std::string_view(query.workflow));
  if (!query.status.empty()) select.bind(4, std::string_view(query.status));
  const bool looks = must_look(query);
  const std::uint64_t most = looks ? kMostLookedAt : std::uint64_t{query.limit};
  select.bind(5, most + 1);  // one more tells whether there are more
  HistoryPage page;
  std::uint64_t last = 0;
  for (std::uint64_t looked_at = 0; TRY(select.step()); ++looked_at) {
    if (page.rows.size() == query.limit || looked_at == most) {
      page.next = last;
      break;
    }
    last = select.nat(0);
    if (!looks || fits(select, query)) page.rows.push_back(read_row(select));
  }
  if (query.counts) page.counts = TRY(counts());
  return page;
}

base::Result<std::vector<InstanceCount>> HistoryIndex::counts() {
  auto select = TRY(database_.database.prepare(
      "SELECT w.name, c.status, c.count FROM counts c JOIN workflows w ON w.id = c.workflow "
      "ORDER BY w.name, c.status"));
  std::vector<InstanceCount> counts;
  while (TRY(select.step()))
    counts.push_back({std::string(select.text(0)), std::string(select.text(1)), select.nat(2)});
  return counts;
}

base::Result<std::optional<InstanceRow>> HistoryIndex::find(std::string_view workflow,
                                                            base::ByteView key) {
  SqliteStatement& find = statements_->find_instance;
  find.bind(1, workflow);
  find.bind(2, key);
  if (!TRY(find.step())) return std::optional<InstanceRow>();
  InstanceRow row = read_row(find);
  find.reset();
  return std::optional(std::move(row));
}

base::Result<std::vector<StreamEntry>> HistoryIndex::stream(std::uint64_t id, std::uint64_t after,
                                                            std::size_t limit, std::size_t bytes) {
  SqliteStatement& find = statements_->find_entries;
  find.bind(1, id);
  find.bind(2, after);
  find.bind(3, std::uint64_t{limit});
  std::vector<StreamEntry> entries;
  while (TRY(find.step())) {
    const base::ByteView value = find.bytes(1);
    if (!entries.empty() && value.size() > bytes) {
      find.reset();
      break;
    }
    bytes -= std::min(bytes, value.size());
    entries.push_back({find.nat(0), {value.begin(), value.end()}});
  }
  return entries;
}

base::Result<std::uint64_t> HistoryIndex::id_of_workflow(std::string_view name) {
  if (name.empty()) return std::uint64_t{0};
  SqliteStatement& find = statements_->find_workflow;
  find.bind(1, name);
  std::uint64_t id = 0;
  if (TRY(find.step())) id = find.nat(0);
  find.reset();
  return id;
}

// Three parameters: the only workflow, and two that are left out.
base::Result<void> HistoryIndex::bind_over(SqliteStatement& statement, int first,
                                           const OverQuery& of) {
  const std::uint64_t only = TRY(id_of_workflow(of.only));
  statement.bind(first, only);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t id = i < of.but.size() ? TRY(id_of_workflow(of.but[i])) : 0;
    statement.bind(first + 1 + static_cast<int>(i), id);
  }
  return {};
}

base::Result<std::vector<EndedInstance>> HistoryIndex::over_since(std::uint64_t last_ns,
                                                                  std::size_t limit,
                                                                  const OverQuery& of) {
  std::vector<EndedInstance> ended;
  if (!of.only.empty() && TRY(id_of_workflow(of.only)) == 0) return ended;
  SqliteStatement& find = statements_->find_over;
  find.bind(1, last_ns);
  find.bind(2, std::uint64_t{limit});
  TRY(bind_over(find, 3, of));
  while (TRY(find.step())) {
    const base::ByteView key = find.bytes(1);
    ended.push_back({std::string(find.text(0)), {key.begin(), key.end()}, find.nat(2)});
  }
  return ended;
}

base::Result<std::optional<std::uint64_t>> HistoryIndex::oldest_over_ns(const OverQuery& of) {
  std::optional<std::uint64_t> oldest;
  if (!of.only.empty() && TRY(id_of_workflow(of.only)) == 0) return oldest;
  SqliteStatement& first = statements_->first_over;
  TRY(bind_over(first, 1, of));
  if (TRY(first.step()) && !first.is_null(0)) oldest = first.nat(0);
  first.reset();
  return oldest;
}

base::Result<std::vector<EndedInstance>> HistoryIndex::over_between(std::string_view workflow,
                                                                    base::ByteView first,
                                                                    base::ByteView end,
                                                                    std::size_t limit) {
  std::vector<EndedInstance> ended;
  const std::uint64_t id = TRY(id_of_workflow(workflow));
  if (id == 0) return ended;
  SqliteStatement& find = statements_->between_over;
  find.bind(1, id);
  find.bind(2, first);
  find.bind(3, end);
  find.bind(4, std::uint64_t{limit});
  while (TRY(find.step())) {
    const base::ByteView key = find.bytes(0);
    ended.push_back({std::string(workflow), {key.begin(), key.end()}, find.nat(1)});
  }
  return ended;
}

}  // namespace holdfast::store
