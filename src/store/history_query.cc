// SPDX-License-Identifier: Apache-2.0
// Reading the index of instances.
#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "store/history_statements.h"

namespace holdfast::store {
namespace {

// How many rows are looked at for one page, where no index tells which fit.
constexpr std::uint64_t kMostLookedAt = 20'000;

// How many keys with a prefix are put in order before it is cheaper to look at instances in their
// order: so many are likely to be found soon.
constexpr std::size_t kMostKeys = 5'000;

// Whether there is an index of exactly those that are paused, or failed with a code. The planner
// would rather take the one of statuses, which has far more of them.
bool has_few(const HistoryQuery& query) { return !query.code.empty() || query.paused == true; }

// Whether the indexes leave rows that do not fit.
bool must_look(const HistoryQuery& query) {
  return query.paused || query.since_ns > 0 || query.until_ns > 0 || !query.key.empty() ||
         has_few(query);
}

std::string sql_of(const HistoryQuery& query) {
  std::string sql = std::string("SELECT ") + kRowColumns + " FROM instances i ";
  if (!query.code.empty())
    sql += "INDEXED BY by_code ";
  else if (has_few(query))
    sql += "INDEXED BY by_paused ";
  sql += "CROSS JOIN workflows w ON w.id = i.workflow WHERE i.id < ?2";
  if (!query.code.empty()) {
    sql += " AND i.error_code = ?3 AND i.error_code <> ''";
  } else if (has_few(query)) {
    sql += " AND i.paused = 1";
  } else {
    if (!query.workflow.empty())
      sql += " AND i.workflow = (SELECT id FROM workflows WHERE name = ?3)";
    if (!query.status.empty()) sql += " AND i.status = ?4";
  }
  return sql + " ORDER BY i.id DESC LIMIT ?5";
}

// What keys begin with that are texts of this length and begin with this one. The head of a text
// is its length, and heads grow with it: texts that begin alike stand together among those that are
// equally long.
base::Bytes first_key(std::string_view prefix, std::uint64_t length) {
  codec::Buffer first;
  codec::write_head(first, codec::Major::kText, length);
  first.append(base::as_bytes(prefix));
  return first.to_bytes();
}

// Nothing: the key is no text.
std::optional<std::string_view> text_of_key(base::ByteView key) {
  return key.empty() ? std::nullopt : codec::View::of(key).text();
}

bool begins_with(base::ByteView key, std::string_view prefix) {
  const auto text = text_of_key(key);
  return text && text->starts_with(prefix);
}

}  // namespace

bool is_among(std::string_view status, std::string_view statuses) noexcept {
  while (!statuses.empty()) {
    const std::size_t comma = std::min(statuses.find(','), statuses.size());
    if (statuses.substr(0, comma) == status) return true;
    statuses.remove_prefix(std::min(comma + 1, statuses.size()));
  }
  return false;
}

bool fits(const SqliteStatement& row, const HistoryQuery& query) {
  if (!query.workflow.empty() && row.text(1) != query.workflow) return false;
  if (!query.status.empty() && !is_among(row.text(4), query.status)) return false;
  if (query.paused && (row.number(5) != 0) != *query.paused) return false;
  if (!query.code.empty() && row.text(12) != query.code) return false;
  if (!query.key.empty() && !begins_with(row.bytes(2), query.key)) return false;
  if (query.until_ns > 0 && row.nat(9) >= query.until_ns) return false;
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
  HistoryPage page = TRY(page_of(query));
  if (query.counts) page.counts = TRY(counts());
  if (query.rates_from_ns != 0) page.rates = TRY(rates(query.rates_from_ns, query.rates_step_ns));
  return page;
}

base::Result<HistoryPage> HistoryIndex::page_of(const HistoryQuery& query) {
  if (query.words.find_first_not_of(" \t\r\n\v\f") != std::string::npos) return search(query);
  if (!query.key.empty() && !has_few(query)) {
    if (auto found = TRY(find_keys(query))) return std::move(*found);
  }
  if (query.status.find(',') != std::string::npos && !has_few(query)) return merge_statuses(query);
  return scan(query);
}

// Each status has its own order in the index. A part of one status may end before the others do:
// what is below that place is left for the next page.
base::Result<HistoryPage> HistoryIndex::merge_statuses(const HistoryQuery& query) {
  HistoryPage merged;
  std::string_view rest = query.status;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    HistoryQuery one = query;
    one.status = std::string(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (one.status.empty()) continue;
    HistoryPage page = TRY(scan(one));
    merged.next = std::max(merged.next, page.next);
    std::move(page.rows.begin(), page.rows.end(), std::back_inserter(merged.rows));
  }
  std::ranges::sort(merged.rows, std::greater(), &InstanceRow::id);
  // Not the form of std::ranges, which clang 14 cannot compile with this standard library.
  const auto is_same = [](const InstanceRow& a, const InstanceRow& b) { return a.id == b.id; };
  merged.rows.erase(std::unique(merged.rows.begin(), merged.rows.end(), is_same),
                    merged.rows.end());
  std::erase_if(merged.rows, [&](const InstanceRow& row) { return row.id < merged.next; });
  if (merged.rows.size() > query.limit) {
    merged.rows.resize(query.limit);
    merged.next = merged.rows.back().id;
  }
  return merged;
}

// Goes from one length of texts to the next that there is: the keys of a workflow are in the order
// of their bytes, in which the length comes first. Nothing: there are too many.
base::Result<std::optional<HistoryPage>> HistoryIndex::find_keys(const HistoryQuery& query) {
  auto names =
      TRY(database_.database.prepare("SELECT id FROM workflows WHERE ?1 = '' OR name = ?1"));
  auto keys = TRY(database_.database.prepare(
      "SELECT key, id FROM instances WHERE workflow = ?1 AND key >= ?2 ORDER BY key"));
  names.bind(1, std::string_view(query.workflow));
  std::vector<std::uint64_t> ids;
  while (TRY(names.step())) {
    for (std::uint64_t length = query.key.size(); ids.size() <= kMostKeys;) {
      const base::Bytes first = first_key(query.key, length);
      keys.bind(1, names.nat(0));
      keys.bind(2, base::ByteView(first));
      std::optional<std::uint64_t> after;  // the length of the first text that is not one of them
      while (ids.size() <= kMostKeys && TRY(keys.step())) {
        const auto text = text_of_key(keys.bytes(0));
        const bool is_one = text && text->size() == length && text->starts_with(query.key);
        if (!is_one && text) after = text->size();
        if (!is_one) break;
        ids.push_back(keys.nat(1));
      }
      keys.reset();
      if (!after) break;
      length = std::max(length + 1, *after);
    }
  }
  if (ids.size() > kMostKeys) return std::optional<HistoryPage>();
  std::ranges::sort(ids, std::greater());
  HistoryPage page;
  for (const std::uint64_t id : ids) {
    if (query.after != 0 && id >= query.after) continue;
    SqliteStatement& find = statements_->find_by_id;
    find.bind(1, id);
    const bool is_there = TRY(find.step());
    if (is_there && fits(find, query)) page.rows.push_back(read_row(find));
    find.reset();
    if (page.rows.size() <= query.limit) continue;
    page.rows.pop_back();  // one more told that there are more
    page.next = page.rows.back().id;
    break;
  }
  return std::optional(std::move(page));
}

base::Result<HistoryPage> HistoryIndex::scan(const HistoryQuery& query) {
  auto select = TRY(database_.database.prepare(sql_of(query)));
  constexpr std::uint64_t kEnd = std::numeric_limits<std::int64_t>::max();
  select.bind(2, query.after == 0 ? kEnd : query.after);
  if (!query.code.empty())
    select.bind(3, std::string_view(query.code));
  else if (!query.workflow.empty() && !has_few(query))
    select.bind(3, std::string_view(query.workflow));
  if (!query.status.empty() && !has_few(query)) select.bind(4, std::string_view(query.status));
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
  return page;
}

base::Result<std::vector<InstanceRate>> HistoryIndex::rates(std::uint64_t from_ns,
                                                            std::uint64_t step_ns) {
  const std::uint64_t slots = std::max<std::uint64_t>(1, (step_ns + kRateSlotNs - 1) / kRateSlotNs);
  auto select = TRY(database_.database.prepare(
      "SELECT slot / ?2 * ?2, sum(begun), sum(completed), sum(failed), sum(cancelled) FROM rates "
      "WHERE slot >= ?1 GROUP BY slot / ?2 ORDER BY 1"));
  select.bind(1, from_ns / kRateSlotNs);
  select.bind(2, slots);
  std::vector<InstanceRate> rates;
  while (TRY(select.step()))
    rates.push_back(
        {select.nat(0) * kRateSlotNs, select.nat(1), select.nat(2), select.nat(3), select.nat(4)});
  return rates;
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
