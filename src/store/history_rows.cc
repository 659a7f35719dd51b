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

void join_annotations(std::string& text, std::span<const std::string> more) {
  for (const std::string& line : more) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  // Whole lines go, so that it does not matter in how many portions they came.
  std::size_t begin = 0;
  while (text.size() - begin > kMaxAnnotationBytes) begin = text.find('\n', begin) + 1;
  text.erase(0, begin);
}

void HistoryBatch::add(InstanceChange change) {
  cut(change.error_message, kMaxErrorBytes);
  for (std::string& line : change.annotations) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    cut(line, kMaxAnnotationBytes);
  }
  const auto [place, is_new] =
      places_.try_emplace(std::pair(change.workflow, change.key), entries_.size());
  if (is_new) entries_.push_back({{}, change.previous, {}, 0});
  Entry& entry = entries_[place->second];
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
  }
  entry.latest = std::move(change);
}

void HistoryBatch::clear() {
  entries_.clear();
  places_.clear();
}

}  // namespace holdfast::store
