// SPDX-License-Identifier: Apache-2.0
#include "node/history_feed.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/sha256.h"
#include "node/history_changes.h"
#include "node/seed_history.h"
#include "store/history_swap.h"
#include "store/record_at.h"

namespace holdfast::node {
namespace {

base::Error does_not_fit(const std::string& why) {
  return {base::ErrorCode::kConflict, store::kHistoryFile, why};
}

// The record it has seen last is still the one that stands there.
base::Result<void> check_last_seen(store::Journal& journal, const store::HistoryCursor& cursor) {
  if (cursor.record < std::max<store::RecordNumber>(journal.first(), cursor.begins)) return {};
  if (base::sha256(TRY(store::record_at(journal, cursor.record))) == cursor.hash) return {};
  return does_not_fit("has followed another journal: its record " + std::to_string(cursor.record) +
                      " is not the one in this journal");
}

}  // namespace

base::Result<HistoryFeed> HistoryFeed::start(store::Journal& journal, store::HistoryIndex& index) {
  const store::HistoryCursor& cursor = index.cursor();
  const std::string seen = std::to_string(cursor.record);
  if (cursor.record > journal.durable()) {
    return does_not_fit("has seen record " + seen + ", but the journal ends with record " +
                        std::to_string(journal.durable()));
  }
  if (cursor.record + 1 < journal.first()) {
    return does_not_fit("has seen records up to " + seen + ", but the journal begins with record " +
                        std::to_string(journal.first()));
  }
  TRY(check_last_seen(journal, cursor));
  return HistoryFeed(journal, index);
}

store::RecordNumber HistoryFeed::lag() const {
  return journal_->durable() - index_->cursor().record;
}

base::Result<void> HistoryFeed::run(const SliceLimits& limits) {
  if (lag() == 0) return {};
  auto done = read_slice(limits);
  batch_.clear();
  // What was read and not written has to be read again.
  if (!done) reader_.reset();
  return done;
}

base::Result<void> HistoryFeed::read_slice(const SliceLimits& limits) {
  if (!reader_) reader_ = TRY(journal_->read(index_->cursor().record + 1));
  std::size_t bytes = 0;
  store::RecordNumber last = index_->cursor().record;
  base::Hash hash = index_->cursor().hash;
  for (std::size_t count = 0; count < limits.records && bytes < limits.bytes; ++count) {
    const auto record = TRY(reader_->next());
    if (!record) break;
    const kernel::RecordView view = TRY(kernel::read_record(record->bytes));
    if (view.number != record->number) {
      return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(record->number),
                         "says that it is record " + std::to_string(view.number));
    }
    for (store::InstanceChange& change : changes_of(view)) batch_.add(std::move(change));
    if (shows) shows(view);
    last = record->number;
    bytes += record->bytes.size();
    const bool is_end = count + 1 == limits.records || bytes >= limits.bytes;
    if (is_end || last == journal_->durable()) hash = base::sha256(record->bytes);
  }
  batch_.name([](base::ByteView key) { return kernel::key_text(key); });
  return index_->apply(batch_, last, hash);
}

base::Result<store::HistoryCursor> rebuild_history(
    store::WorldFolder& world, store::Journal& journal, kernel::World* before,
    const std::function<void(store::RecordNumber)>& progress) {
  auto index = TRY(store::begin_new_history(world));
  TRY(begin_history(*index, journal.first(), before));
  HistoryFeed feed = TRY(HistoryFeed::start(journal, *index));
  while (feed.lag() > 0) {
    TRY(feed.run());
    if (progress) progress(index->cursor().record);
  }
  const store::HistoryCursor cursor = index->cursor();
  TRY(store::put_in_place(world, std::move(index)));
  return cursor;
}

}  // namespace holdfast::node
