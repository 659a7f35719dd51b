// SPDX-License-Identifier: Apache-2.0
// SegmentTable: which segment holds which records, how far they are durable, and places inside
// segments where reading may begin. The journal writes it; readers on any thread look things up,
// and add the places they came by.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "store/batch_scanner.h"

namespace holdfast::store {

class SegmentTable {
 public:
  // Between batches: what comes next there.
  struct Landmark {
    ChainPoint chain;
    std::uint64_t offset;
  };
  // So far from each other at least, so that there are few of them.
  static constexpr std::uint64_t kLandmarkDistance = std::uint64_t{256} << 10;

  struct Entry {
    std::uint64_t number;
    RecordNumber first;
    std::vector<Landmark> landmarks = {};  // in order
  };

  void add(Entry entry) {
    const std::lock_guard guard(mutex_);
    entries_.push_back(std::move(entry));
  }
  Entry take_first() {
    const std::lock_guard guard(mutex_);
    Entry first = std::move(entries_.front());
    entries_.pop_front();
    return first;
  }
  // It was taken, and stays after all.
  void put_back(Entry first) {
    const std::lock_guard guard(mutex_);
    entries_.push_front(std::move(first));
  }

  // Of the segments that are kept.
  RecordNumber first_record() const {
    const std::lock_guard guard(mutex_);
    return entries_.front().first;
  }

  // The segments that may go when records below this one may; never the last.
  std::vector<std::uint64_t> segments_below(RecordNumber record) const;

  // Kept if it is far enough from the others. Must lie in what is durable.
  void add_landmark(std::uint64_t segment, const Landmark& landmark);

  // The last one in the segment at or before the record.
  std::optional<Landmark> landmark_before(std::uint64_t segment, RecordNumber record) const;

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
