// SPDX-License-Identifier: Apache-2.0
// SegmentTable: which segment holds which records, how far they are durable, which of them somebody
// has pinned, and places inside segments where reading may begin. The journal writes it; readers on
// any thread look things up, pin, and add the places they came by.
//
// A segment goes in two steps: it is given up, and from then on nobody can pin it; it is taken when
// nobody has it pinned any more. Both are decided where pins are made, so none comes in between.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
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

  // The segments that may go when records below this one may; never the last.
  void give_up(RecordNumber below);

  // The first that was given up, unless a record in it is pinned and no more than so many wait.
  std::optional<Entry> take_given_up(std::size_t most_held);

  // The one that was taken is gone from the disk, whatever happens.
  void removed();

  // It was taken, and stays after all, with all that are behind it.
  void put_back(Entry first);

  // Of the segments that are not given up.
  RecordNumber first_record() const {
    const std::lock_guard guard(mutex_);
    return entries_[given_up_].first;
  }

  // Of all that the disk may have. Behind a removal that failed it stays where it is: the segment
  // may be there after a restart.
  RecordNumber first_held() const {
    const std::lock_guard guard(mutex_);
    return taken_.value_or(entries_.front().first);
  }

  // The record from which on all stay: this one, or the first that is not given up.
  RecordNumber pin(RecordNumber from);
  void unpin(RecordNumber from);

  // Kept if it is far enough from the others. Must lie in what is durable.
  void add_landmark(std::uint64_t segment, const Landmark& landmark);

  // The last one in the segment at or before the record.
  std::optional<Landmark> landmark_before(std::uint64_t segment, RecordNumber record) const;

  // The segment that holds the record, or will when it comes; nothing when it is gone.
  std::optional<std::uint64_t> segment_of(RecordNumber record) const;

  RecordNumber durable() const noexcept { return durable_.load(std::memory_order_acquire); }
  void set_durable(RecordNumber record) noexcept {
    durable_.store(record, std::memory_order_release);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::size_t given_up_ = 0;           // number of entries at the front that may go
  std::optional<RecordNumber> taken_;  // the first of a segment that is being removed
  std::multiset<RecordNumber> pins_;
  std::atomic<RecordNumber> durable_ = 0;
};

}  // namespace holdfast::store
