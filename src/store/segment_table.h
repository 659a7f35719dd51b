// SPDX-License-Identifier: Apache-2.0
// SegmentTable: which segment holds which records, and how far they are durable. The journal
// writes it; readers on any thread look things up.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "store/journal.h"

namespace holdfast::store {

class SegmentTable {
 public:
  struct Entry {
    std::uint64_t number;
    RecordNumber first;
  };

  void add(Entry entry) {
    const std::lock_guard guard(mutex_);
    entries_.push_back(entry);
  }
  void drop_first() {
    const std::lock_guard guard(mutex_);
    entries_.pop_front();
  }

  // Of the segments that are kept.
  RecordNumber first_record() const {
    const std::lock_guard guard(mutex_);
    return entries_.front().first;
  }
  std::deque<Entry> entries() const {
    const std::lock_guard guard(mutex_);
    return entries_;
  }

  // The segment that holds the record, or will when it comes; nothing when it was trimmed.
  std::optional<std::uint64_t> segment_of(RecordNumber record) const;

  RecordNumber durable() const noexcept { return durable_.load(std::memory_order_acquire); }
  void set_durable(RecordNumber record) noexcept {
    durable_.store(record, std::memory_order_release);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::atomic<RecordNumber> durable_ = 0;
};

}  // namespace holdfast::store
