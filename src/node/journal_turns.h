// SPDX-License-Identifier: Apache-2.0
// JournalTurns: the journal of a loop, whose threads take turns at changing it. Whatever changes
// the journal is a member of Turn, and there is at most one Turn: a thread that has none cannot
// append or trim, also by mistake. What any thread may call at any time is beside it.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <utility>

#include "store/journal.h"

namespace holdfast::node {

class JournalTurns {
 public:
  // The journal must outlive it.
  explicit JournalTurns(store::Journal& journal) : journal_(journal) {}

  class Turn {
   public:
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->is_taken_.store(false, std::memory_order_release);
    }

    // As of store::Journal.
    base::Result<store::RecordNumber> append(std::span<const base::ByteView> records,
                                             store::Room room) {
      return turns_->journal_.append(records, room);
    }
    base::Result<store::RecordNumber> sync() { return turns_->journal_.sync(); }
    base::Result<void> mark() { return turns_->journal_.mark(); }
    base::Result<void> trim(store::RecordNumber below) { return turns_->journal_.trim(below); }

   private:
    friend class JournalTurns;
    explicit Turn(JournalTurns& turns) : turns_(&turns) {}

    JournalTurns* turns_;  // null: it was moved from
  };

  // Nothing: another thread has the turn.
  std::optional<Turn> take() {
    if (is_taken_.exchange(true, std::memory_order_acquire)) return std::nullopt;
    return Turn(*this);
  }
  bool is_taken() const noexcept { return is_taken_.load(std::memory_order_acquire); }

  // For any thread, as of store::Journal.
  base::Result<void> prepare() { return journal_.prepare(); }
  bool has_room(store::Room room) const { return journal_.has_room(room); }

 private:
  store::Journal& journal_;
  std::atomic<bool> is_taken_ = false;
};

}  // namespace holdfast::node
