// SPDX-License-Identifier: Apache-2.0
#include "cursors/cursor_book.h"

#include <algorithm>
#include <utility>

#include "codec/view.h"
#include "errors/translate.h"

namespace holdfast::cursors {
namespace {

constexpr std::string_view kSuffix = ".cursor";
constexpr std::size_t kMostNameBytes = 64;
constexpr std::size_t kMostFileBytes = std::size_t{64} << 20;

// Of records that one call looks through for events, and of events that it gives.
constexpr std::uint64_t kMostScanned = 20'000;
constexpr std::size_t kMostPageBytes = std::size_t{1} << 20;
constexpr PartLimits kScanPart{.records = 256, .bytes = kMostPageBytes};

// A cursor that only passes records without events is saved after this many.
constexpr std::uint64_t kSaveEvery = 10'000;

base::Result<void> check_name(const std::string& name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!name.empty() && name.size() <= kMostNameBytes && name.front() != '.' &&
      std::ranges::all_of(name, is_good))
    return {};
  return base::invalid("name", "expected 1 to 64 letters, digits and '.-_', not '.' first");
}

base::Error none_such(const std::string& name) {
  return {base::ErrorCode::kNotFound, "there is no cursor '" + name + "'"};
}

base::Error beyond_horizon(std::uint64_t next, std::uint64_t first) {
  return {base::ErrorCode::kEnded, "records " + std::to_string(next) + " to " +
                                       std::to_string(first - 1) +
                                       " are not in the journal any more; reset the cursor to go "
                                       "on without their events"};
}

}  // namespace

base::Result<std::unique_ptr<CursorBook>> CursorBook::open(std::unique_ptr<env::Disk> disk,
                                                           std::string folder, Engine& engine) {
  std::unique_ptr<CursorBook> book(new CursorBook(std::move(disk), std::move(folder), engine));
  auto names = book->disk_->list(book->folder_);
  if (!names && names.error().code() == base::ErrorCode::kNotFound) return book;
  if (!names) return std::move(names).error();
  for (const std::string& file : *names) {
    if (!file.ends_with(kSuffix)) continue;  // such as a file that was being replaced
    const std::string name = file.substr(0, file.size() - kSuffix.size());
    const auto bytes = TRY(env::read_file(*book->disk_, book->path_of(name), kMostFileBytes));
    auto state = decode_cursor(bytes);
    if (!state) return std::move(state).error().within(book->path_of(name));
    Cursor& cursor = book->cursors_[name];
    cursor.state = std::move(*state);
    cursor.hold = engine.hold_journal(cursor.state.next.record);
  }
  return book;
}

std::string CursorBook::path_of(const std::string& name) const {
  return folder_ + "/" + name + std::string(kSuffix);
}

base::Result<CursorBook::Cursor*> CursorBook::find(const std::string& name) {
  const auto at = cursors_.find(name);
  if (at == cursors_.end()) return none_such(name);
  return &at->second;
}

base::Result<void> CursorBook::save(const std::string& name, Cursor& cursor, CursorState state) {
  TRY(env::replace_file(*disk_, path_of(name), encode(state)));
  cursor.hold = engine_.hold_journal(state.next.record);
  cursor.scanned = std::max(cursor.scanned, state.next.record);
  cursor.state = std::move(state);
  return {};
}

base::Result<EventId> CursorBook::start(From from) {
  const auto journal = engine_.read_journal(0, {.records = 1});
  if (!journal) return errors::inside(journal.error());
  return EventId{from == From::kOldest ? journal->first : journal->last + 1, 0};
}

base::Result<CursorInfo> CursorBook::create(const std::string& name, From from) {
  TRY(check_name(name));
  const std::lock_guard lock(mutex_);
  if (cursors_.contains(name))
    return base::Error(base::ErrorCode::kConflict, "there is a cursor '" + name + "' already");
  if (cursors_.size() >= kMostCursors)
    return base::Error(base::ErrorCode::kUnavailable,
                       "there are " + std::to_string(kMostCursors) + " cursors; remove one first");
  TRY(disk_->make_directory(folder_));
  Cursor cursor;
  CursorState state;
  state.next = TRY(start(from));
  TRY(save(name, cursor, std::move(state)));
  CursorInfo made{.name = name, .state = cursor.state};
  cursors_.emplace(name, std::move(cursor));
  return made;
}

base::Result<void> CursorBook::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRY(find(name));
  TRY(disk_->remove(path_of(name)));
  TRY(disk_->sync_directory(folder_));
  cursors_.erase(name);
  return {};
}

CursorInfo CursorBook::info_of(const std::string& name, const Cursor& cursor,
                               const JournalPart& journal) {
  const std::uint64_t at = std::max(cursor.state.next.record, cursor.scanned);
  return {.name = name,
          .state = cursor.state,
          .behind = journal.last + 1 > at ? journal.last + 1 - at : 0,
          .is_beyond_horizon = at < journal.first};
}

base::Result<std::vector<CursorInfo>> CursorBook::list() {
  const auto journal = engine_.read_journal(0, {.records = 1});
  if (!journal) return errors::inside(journal.error());
  const std::lock_guard lock(mutex_);
  std::vector<CursorInfo> all;
  for (const auto& [name, cursor] : cursors_) all.push_back(info_of(name, cursor, *journal));
  return all;
}

base::Result<CursorInfo> CursorBook::info(const std::string& name) {
  const auto journal = engine_.read_journal(0, {.records = 1});
  if (!journal) return errors::inside(journal.error());
  const std::lock_guard lock(mutex_);
  return info_of(name, *TRY(find(name)), *journal);
}

base::Result<EventPage> CursorBook::scan(Cursor& cursor, std::size_t most) {
  EventPage page;
  std::size_t bytes = 0;
  std::uint64_t at = std::max(cursor.state.next.record, cursor.scanned);
  const std::uint64_t stop = at + kMostScanned;
  while (at < stop) {
    const auto part = engine_.read_journal(at, kScanPart);
    if (!part && part.error().code == ErrorCode::kNotFound) {
      const auto oldest = engine_.read_journal(0, {.records = 1});
      if (oldest && oldest->first > at) return beyond_horizon(at, oldest->first);
    }
    if (!part) return errors::inside(part.error());
    if (part->records.empty()) break;
    for (const Bytes& record : part->records) {
      for (TaskEvent& event : events_of(codec::View::of(record))) {
        if (event.id < cursor.state.next) continue;
        if (page.events.size() == most || bytes > kMostPageBytes) return page;
        bytes += event.document.size();
        page.events.push_back(std::move(event));
      }
      page.next_record = ++at;
      if (page.events.empty()) cursor.scanned = at;
    }
  }
  page.next_record = at;
  return page;
}

base::Result<EventPage> CursorBook::read(const std::string& name, std::size_t most) {
  const std::lock_guard lock(mutex_);
  Cursor& cursor = *TRY(find(name));
  EventPage page;
  for (const Quarantined& each : cursor.state.quarantine)
    if (each.is_replayed && page.events.size() < most)
      page.events.push_back({each.id, each.document});
  if (page.events.size() == most) return page;
  EventPage rest = TRY(scan(cursor, most - page.events.size()));
  if (cursor.scanned >= cursor.state.next.record + kSaveEvery) {
    CursorState state = cursor.state;
    state.next = {cursor.scanned, 0};
    TRY(save(name, cursor, std::move(state)));
  }
  std::ranges::move(rest.events, std::back_inserter(page.events));
  page.next_record = rest.next_record;
  return page;
}

base::Result<void> CursorBook::acknowledge(const std::string& name, const EventId& id) {
  const std::lock_guard lock(mutex_);
  Cursor& cursor = *TRY(find(name));
  CursorState state = cursor.state;
  const auto replayed = std::ranges::find_if(
      state.quarantine, [&](const Quarantined& each) { return each.id == id && each.is_replayed; });
  if (replayed != state.quarantine.end()) {
    state.quarantine.erase(replayed);
    return save(name, cursor, std::move(state));
  }
  if (id < state.next)
    return base::Error(base::ErrorCode::kConflict, "the cursor is past " + id.to_text() +
                                                       "; the next event is " +
                                                       state.next.to_text() + " or later");
  const auto part = engine_.read_journal(id.record, {.records = 1});
  const auto count = part && !part->records.empty()
                         ? events_of(codec::View::of(part->records.front())).size()
                         : std::size_t{0};
  if (id.index >= count)
    return base::Error(base::ErrorCode::kConflict, "there is no event " + id.to_text());
  state.next = id.index + 1 < count ? EventId{id.record, id.index + 1} : EventId{id.record + 1, 0};
  state.tries = 0;
  state.reason.clear();
  return save(name, cursor, std::move(state));
}

base::Result<Rejected> CursorBook::reject(const std::string& name, const EventId& id,
                                          const std::string& reason, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  Cursor& cursor = *TRY(find(name));
  CursorState state = cursor.state;
  const std::string kept = reason.substr(0, kMostReasonBytes);
  for (Quarantined& each : state.quarantine) {
    if (each.id != id || !each.is_replayed) continue;
    each.is_replayed = false;
    each.reason = kept;
    each.time_ns = now_ns;
    TRY(save(name, cursor, std::move(state)));
    return Rejected{kMostTries, true};
  }
  EventPage first = TRY(scan(cursor, 1));
  if (first.events.empty() || first.events.front().id != id)
    return base::Error(
        base::ErrorCode::kConflict,
        id.to_text() + " is not the next event of the cursor" +
            (first.events.empty() ? std::string()
                                  : ", which is " + first.events.front().id.to_text()));
  state.reason = kept;
  if (++state.tries < kMostTries) {
    const Rejected rejected{state.tries, false};
    TRY(save(name, cursor, std::move(state)));
    return rejected;
  }
  if (state.quarantine.size() >= kMostQuarantined)
    return base::Error(base::ErrorCode::kUnavailable,
                       "the quarantine is full; replay what is in it first");
  state.quarantine.push_back({id, kept, now_ns, false, std::move(first.events.front().document)});
  std::ranges::sort(state.quarantine, {}, &Quarantined::id);
  state.next = {id.record, id.index + 1};
  state.tries = 0;
  state.reason.clear();
  TRY(save(name, cursor, std::move(state)));
  return Rejected{kMostTries, true};
}

base::Result<void> CursorBook::replay(const std::string& name, const EventId& id) {
  const std::lock_guard lock(mutex_);
  Cursor& cursor = *TRY(find(name));
  CursorState state = cursor.state;
  const auto at = std::ranges::find(state.quarantine, id, &Quarantined::id);
  if (at == state.quarantine.end())
    return base::Error(base::ErrorCode::kNotFound, id.to_text() + " is not in quarantine");
  at->is_replayed = true;
  return save(name, cursor, std::move(state));
}

base::Result<CursorInfo> CursorBook::reset(const std::string& name, From from) {
  const std::lock_guard lock(mutex_);
  Cursor& cursor = *TRY(find(name));
  CursorState state = cursor.state;
  state.next = TRY(start(from));
  state.tries = 0;
  state.reason.clear();
  cursor.scanned = 0;
  TRY(save(name, cursor, std::move(state)));
  return CursorInfo{.name = name, .state = cursor.state};
}

}  // namespace holdfast::cursors
