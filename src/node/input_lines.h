// SPDX-License-Identifier: Apache-2.0
// Lines in which inputs wait for the loop. `Waiting` has an Input called `input`.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "node/input.h"

namespace holdfast::node {

// Inputs in their order, and how many bytes they hold.
template <class Waiting>
class InputLine {
 public:
  bool empty() const noexcept { return waiting_.empty(); }
  std::size_t size() const noexcept { return waiting_.size() - first_; }

  // One that is too large for an empty line would never be taken.
  bool has_room(const Input& input, std::size_t most, std::size_t most_bytes) const {
    return size() < most && (empty() || bytes_ + input.size() <= most_bytes);
  }

  void add(Waiting waiting) {
    bytes_ += waiting.input.size();
    waiting_.push_back(std::move(waiting));
  }

  Waiting take() {
    Waiting next = std::move(waiting_[first_]);
    ++first_;
    bytes_ -= next.input.size();
    // What was taken leaves when there is more of it than of the rest, so that each moves once.
    if (first_ * 2 >= waiting_.size()) {
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
      if (waiting_.empty() && waiting_.capacity() > kMostKept)
        std::vector<Waiting>().swap(waiting_);
    }
    return next;
  }

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t kMostKept = 4096;
  std::vector<Waiting> waiting_;  // keeps its memory, unlike a deque, unless there was much of it
  std::size_t first_ = 0;         // that was not taken yet
  std::size_t bytes_ = 0;
};

// Lines that take turns: groups of kGroups lines each, the groups by turns, and the lines of a
// group by turns. A group that has most of all that waits, three quarters, may be running
// away: it is passed over once between two of its turns, so beside one other it has a third.
template <class Waiting>
class TurnLines {
 public:
  static constexpr std::size_t kGroups = 8;

  // The number of the first line of a new group; the others follow it.
  std::size_t add_group() {
    groups_.emplace_back();
    return (groups_.size() - 1) * kGroups;
  }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  bool has_room(const Input& input, std::size_t most, std::size_t most_bytes) const {
    return size_ < most && (empty() || bytes_ + input.size() <= most_bytes);
  }

  void add(std::size_t line, Waiting waiting) {
    Group& group = groups_[line / kGroups];
    if (group.size++ == 0) turns_.push_back(&group);
    ++size_;
    bytes_ += waiting.input.size();
    group.lines[line % kGroups].add(std::move(waiting));
  }

  // There must be one.
  Waiting take() {
    if (has_most(*turns_.front())) pass_over_first();
    Group& group = *turns_.front();
    turns_.pop_front();
    group.passed_over = false;
    while (group.lines[group.next].empty()) group.next = (group.next + 1) % kGroups;
    Waiting next = group.lines[group.next].take();
    group.next = (group.next + 1) % kGroups;
    if (--group.size != 0) turns_.push_back(&group);
    --size_;
    bytes_ -= next.input.size();
    return next;
  }

 private:
  struct Group {
    std::array<InputLine<Waiting>, kGroups> lines;
    std::size_t next = 0;  // whose turn it is
    std::size_t size = 0;
    bool passed_over = false;  // since its last turn
  };

  bool has_most(const Group& group) const {
    return turns_.size() > 1 && group.size > size_ - size_ / 4;
  }
  void pass_over_first() {
    if (std::exchange(turns_[0]->passed_over, true)) return;
    std::swap(turns_[0], turns_[1]);
  }

  std::deque<Group> groups_;  // they stay where they are
  std::deque<Group*> turns_;  // those in which something waits
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::node
