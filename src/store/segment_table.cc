// SPDX-License-Identifier: Apache-2.0
#include "store/segment_table.h"

#include <algorithm>
#include <iterator>

namespace holdfast::store {
namespace {

// The entry of the segment, or null when it is not there (any more).
template <class Entries>
auto find(Entries& entries, std::uint64_t segment) -> decltype(&entries.front()) {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), segment,
      [](const auto& entry, std::uint64_t number) { return entry.number < number; });
  return found != entries.end() && found->number == segment ? &*found : nullptr;
}

}  // namespace

std::optional<std::uint64_t> SegmentTable::segment_of(RecordNumber record) const {
  const std::lock_guard guard(mutex_);
  // The last one that begins at or before the record: an earlier one with the same beginning is
  // void.
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), record,
      [](RecordNumber number, const Entry& entry) { return number < entry.first; });
  if (after == entries_.begin()) return std::nullopt;
  return std::prev(after)->number;
}

void SegmentTable::give_up(RecordNumber below) {
  const std::lock_guard guard(mutex_);
  while (given_up_ + 1 < entries_.size() && entries_[given_up_ + 1].first <= below) ++given_up_;
}

std::optional<SegmentTable::Entry> SegmentTable::take_given_up(std::size_t most_held) {
  const std::lock_guard guard(mutex_);
  if (given_up_ == 0) return std::nullopt;
  // A pin holds what is behind it; one whose own record is gone holds nothing any more.
  const auto pin = pins_.lower_bound(entries_[0].first);
  const bool is_pinned = pin != pins_.end() && *pin < entries_[1].first;
  if (is_pinned && given_up_ <= most_held) return std::nullopt;
  --given_up_;
  Entry first = std::move(entries_.front());
  entries_.pop_front();
  taken_ = first.first;
  return first;
}

void SegmentTable::removed() {
  const std::lock_guard guard(mutex_);
  taken_.reset();
}

void SegmentTable::put_back(Entry first) {
  const std::lock_guard guard(mutex_);
  entries_.push_front(std::move(first));
  taken_.reset();
  given_up_ = 0;
}

RecordNumber SegmentTable::pin(RecordNumber from) {
  const std::lock_guard guard(mutex_);
  return *pins_.insert(std::max(from, entries_[given_up_].first));
}

void SegmentTable::unpin(RecordNumber from) {
  const std::lock_guard guard(mutex_);
  pins_.erase(pins_.find(from));
}

void SegmentTable::add_landmark(std::uint64_t segment, const Landmark& landmark) {
  const std::lock_guard guard(mutex_);
  Entry* const entry = find(entries_, segment);
  if (entry == nullptr) return;
  auto& landmarks = entry->landmarks;
  const auto after = std::upper_bound(
      landmarks.begin(), landmarks.end(), landmark.offset,
      [](std::uint64_t offset, const Landmark& other) { return offset < other.offset; });
  const std::uint64_t before = after == landmarks.begin() ? 0 : std::prev(after)->offset;
  if (landmark.offset - before < kLandmarkDistance) return;
  if (after != landmarks.end() && after->offset - landmark.offset < kLandmarkDistance) return;
  landmarks.insert(after, landmark);
}

std::optional<SegmentTable::Landmark> SegmentTable::landmark_before(std::uint64_t segment,
                                                                    RecordNumber record) const {
  const std::lock_guard guard(mutex_);
  const Entry* const entry = find(entries_, segment);
  if (entry == nullptr) return std::nullopt;
  const auto after = std::upper_bound(
      entry->landmarks.begin(), entry->landmarks.end(), record,
      [](RecordNumber number, const Landmark& landmark) { return number < landmark.chain.next; });
  if (after == entry->landmarks.begin()) return std::nullopt;
  return *std::prev(after);
}

}  // namespace holdfast::store
