// SPDX-License-Identifier: Apache-2.0
#include "store/history_rows.h"

#include <algorithm>
#include <iterator>

namespace holdfast::store {
namespace {

// Never inside a character.
void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
}

}  // namespace

HistoryBatch::Place HistoryBatch::place_of(const InstanceChange& change) {
  name_ = change.workflow;
  name_ += '\0';  // no name of a workflow has one
  name_ += base::as_text(change.key);
  if (const auto found = places_.find(name_); found != places_.end()) return {found->second, false};
  return {places_.emplace(name_, entries_.size()).first->second, true};
}

void HistoryBatch::add(InstanceChange change) {
  if (change.forgets) return forget(std::move(change));
  cut(change.error_message, kMaxErrorBytes);
  for (std::string& line : change.annotations) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    cut(line, kMaxAnnotationBytes);
  }
  const Place place = place_of(change);
  const bool is_new = place.is_new || entries_[place.index].latest.forgets;
  if (is_new) {
    place.index = entries_.size();
    entries_.push_back({{}, change.previous, false, {}, 0});
  }
  Entry& entry = entries_[place.index];
  if (change.key_text.empty()) change.key_text = std::move(entry.latest.key_text);
  entry.annotation_count += change.annotations.size();
  const bool was_deleted = !is_new && entry.latest.status == "deleted";
  if (change.previous == 0 || was_deleted) {
    // A new life: nothing of the one before is left.
    entry.previous = 0;
    entry.began = {change.record, change.time_ns};
    entry.annotation_count = change.annotations.size();
    change.keeps_error = false;
  } else if (!is_new) {
    if (change.keeps_error) {
      change.error_code = std::move(entry.latest.error_code);
      change.error_message = std::move(entry.latest.error_message);
      change.keeps_error = entry.latest.keeps_error;
    }
    change.steps += entry.latest.steps;
    auto& said = entry.latest.annotations;
    std::move(change.annotations.begin(), change.annotations.end(), std::back_inserter(said));
    change.annotations = std::move(said);
    auto& put_out = entry.latest.entries;
    std::move(change.entries.begin(), change.entries.end(), std::back_inserter(put_out));
    change.entries = std::move(put_out);
    if (change.ended == 0) change.ended = entry.latest.ended;
  }
  entry.latest = std::move(change);
}

void HistoryBatch::forget(InstanceChange change) {
  const Place place = place_of(change);
  if (place.is_new) {
    const RecordNumber named = change.previous;
    entries_.push_back({std::move(change), named, false, {}, 0});
    return;
  }
  Entry& entry = entries_[place.index];
  if (entry.latest.forgets) {
    entry.previous = std::max(entry.previous, change.previous);
  } else if (is_over(entry.latest.status) && entry.latest.record <= change.previous) {
    entry.previous = change.previous;
    entry.latest = std::move(change);
    entry.is_gone = true;
  }
}

void HistoryBatch::clear() {
  entries_.clear();
  places_.clear();
}

}  // namespace holdfast::store
