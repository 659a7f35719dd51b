// SPDX-License-Identifier: Apache-2.0
// The full text of the index: what instances said to people, a row for each line, so that one more
// line costs the same however many there are. Of each instance the newest lines are kept that fit
// kMaxAnnotationBytes together, counting the line breaks between them.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "store/history_statements.h"

namespace holdfast::store {
namespace {

// Which lines of an instance are there, by their numbers within it, and how many bytes they are
// with a line break each.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t next = 0;
  std::uint64_t bytes = 0;

  bool is_full() const noexcept { return bytes > kMaxAnnotationBytes + 1; }
};

// A window that comes to the end of the numbers begins anew. It has far fewer lines than that.
constexpr std::uint64_t kLines = std::uint64_t{1} << kLineBits;
static_assert(kMaxAnnotationBytes + 1 < kLines / 2);

// So many of the last fit, and one at least does.
std::span<const std::string> newest(std::span<const std::string> lines) {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  while (count < lines.size()) {
    bytes += lines[lines.size() - 1 - count].size() + 1;
    if (bytes > kMaxAnnotationBytes + 1) break;
    ++count;
  }
  return lines.last(count);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

base::Result<void> put_line(SqliteStatement& put, std::uint64_t id, std::uint64_t number,
                            std::string_view line) {
  put.bind(1, first_line_of(id) + number);
  put.bind(2, line);
  TRY(put.step());
  return {};
}

base::Result<void> put_window(SqliteStatement& put, std::uint64_t id, const Window& window) {
  put.bind(1, id);
  put.bind(2, window.first);
  put.bind(3, window.next);
  put.bind(4, window.bytes);
  TRY(put.step());
  return {};
}

base::Result<void> move_texts(SqliteDatabase& database) {
  auto texts = TRY(database.prepare("SELECT rowid, text FROM said ORDER BY rowid"));
  auto line = TRY(database.prepare("INSERT INTO lines(rowid, text) VALUES (?1, ?2)"));
  auto windows = TRY(database.prepare("INSERT INTO windows VALUES (?1, ?2, ?3, ?4)"));
  while (TRY(texts.step())) {
    const std::uint64_t id = texts.nat(0);
    Window window;
    for (const std::string& each : split(texts.text(1))) {
      TRY(put_line(line, id, window.next++, each));
      window.bytes += each.size() + 1;
    }
    TRY(put_window(windows, id, window));
  }
  return {};
}

}  // namespace

base::Result<void> migrate_texts(SqliteDatabase& database) {
  TRY(database.run("BEGIN IMMEDIATE"));
  auto moved = move_texts(database);
  if (moved) moved = database.run("DROP TABLE said");
  if (moved) moved = database.run("UPDATE cursor SET version = " + std::to_string(kHistoryVersion));
  if (moved) moved = database.run("COMMIT");
  if (!moved && database.is_in_transaction()) TRY(database.run("ROLLBACK"));
  return moved;
}

base::Result<void> HistoryIndex::write_annotations(const HistoryBatch::Entry& entry,
                                                   std::uint64_t id, bool is_new) {
  if (entry.began && !is_new) TRY(drop_lines(id));
  if (entry.latest.annotations.empty()) return {};
  return add_lines(id, entry.latest.annotations);
}

base::Result<void> HistoryIndex::add_lines(std::uint64_t id, std::span<const std::string> lines) {
  const std::span<const std::string> kept = newest(lines);
  if (kept.size() < lines.size()) TRY(drop_lines(id));  // nothing of before fits beside these
  Window window;
  SqliteStatement& find = statements_->find_window;
  find.bind(1, id);
  if (TRY(find.step())) window = {find.nat(0), find.nat(1), find.nat(2)};
  find.reset();
  if (window.next + kept.size() >= kLines) {
    const std::vector<std::string> before = split(TRY(annotations(id)));
    TRY(drop_lines(id));
    window = {};
    for (const std::string& line : before) {
      TRY(put_line(statements_->put_line, id, window.next++, line));
      window.bytes += line.size() + 1;
    }
  }
  for (const std::string& line : kept) {
    TRY(put_line(statements_->put_line, id, window.next++, line));
    window.bytes += line.size() + 1;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> oldest;  // number and bytes
  if (window.is_full()) {
    SqliteStatement& all = statements_->find_lines;
    all.bind(1, first_line_of(id) + window.first);
    all.bind(2, first_line_of(id + 1));
    for (Window rest = window; rest.is_full();) {
      const bool found = TRY(all.step());
      CHECK(found);
      oldest.emplace_back(all.nat(0), all.bytes(1).size() + 1);
      rest.bytes -= oldest.back().second;
    }
    all.reset();
  }
  for (const auto& [number, bytes] : oldest) {
    statements_->drop_line.bind(1, number);
    TRY(statements_->drop_line.step());
    window.first = number - first_line_of(id) + 1;
    window.bytes -= bytes;
  }
  return put_window(statements_->put_window, id, window);
}

base::Result<void> HistoryIndex::drop_lines(std::uint64_t id) {
  std::vector<std::uint64_t> numbers;
  SqliteStatement& all = statements_->find_lines;
  all.bind(1, first_line_of(id));
  all.bind(2, first_line_of(id + 1));
  while (TRY(all.step())) numbers.push_back(all.nat(0));
  for (const std::uint64_t number : numbers) {
    statements_->drop_line.bind(1, number);
    TRY(statements_->drop_line.step());
  }
  statements_->drop_window.bind(1, id);
  TRY(statements_->drop_window.step());
  return {};
}

base::Result<std::string> HistoryIndex::annotations(std::uint64_t id) {
  SqliteStatement& all = statements_->find_lines;
  all.bind(1, first_line_of(id));
  all.bind(2, first_line_of(id + 1));
  std::string text;
  for (bool is_first = true; TRY(all.step()); is_first = false) {
    if (!is_first) text += '\n';
    text += all.text(1);
  }
  return text;
}

}  // namespace holdfast::store
