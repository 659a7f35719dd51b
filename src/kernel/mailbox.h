// SPDX-License-Identifier: Apache-2.0
// Mailbox: the messages that wait for one instance, first in first out. Most are empty, and most
// others hold one message for as long as a tick takes: letters are used again, with the room that
// their texts have, and go from hand to hand without being copied.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/mail.h"

namespace holdfast::kernel {

struct Letter {
  Mail mail;
  std::size_t weight = 0;  // while it is in a mailbox
  std::unique_ptr<Letter> next;
};

class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(Mailbox&& other) noexcept
      : first_(std::move(other.first_)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        bytes_(std::exchange(other.bytes_, 0)),
        spillable_(std::exchange(other.spillable_, 0)) {}
  Mailbox& operator=(Mailbox&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(spillable_, other.spillable_);
    return *this;
  }
  ~Mailbox() { clear(); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return bytes_; }          // by weight
  std::size_t spillable() const noexcept { return spillable_; }  // what put_away would free

  void push_back(std::unique_ptr<Letter> letter) noexcept {
    Letter* const added = letter.get();
    added->weight = added->mail.weight();
    bytes_ += added->weight;
    spillable_ += added->mail.spillable();
    (last_ == nullptr ? first_ : last_->next) = std::move(letter);
    last_ = added;
    ++size_;
  }

  // One that was taken comes back to where it was.
  void push_front(std::unique_ptr<Letter> letter) noexcept {
    letter->weight = letter->mail.weight();
    bytes_ += letter->weight;
    spillable_ += letter->mail.spillable();
    if (last_ == nullptr) last_ = letter.get();
    letter->next = std::move(first_);
    first_ = std::move(letter);
    ++size_;
  }

  void push_back(Mail mail) {
    auto letter = std::make_unique<Letter>();
    letter->mail = std::move(mail);
    push_back(std::move(letter));
  }

  // There must be one.
  std::size_t front_weight() const noexcept { return first_->weight; }
  std::unique_ptr<Letter> take_front() noexcept {
    std::unique_ptr<Letter> front = std::move(first_);
    first_ = std::move(front->next);
    if (--size_ == 0) last_ = nullptr;
    bytes_ -= front->weight;
    spillable_ -= front->mail.spillable();
    return front;
  }

  // One after the other, so that a long line is not a deep recursion.
  void clear() noexcept {
    while (!empty()) take_front();
  }

  // Takes out what the predicate says; how many those were.
  template <class Predicate>
  std::size_t erase_if(Predicate predicate) {
    const std::size_t before = size_;
    Mailbox kept;
    while (!empty()) {
      std::unique_ptr<Letter> letter = take_front();
      if (!predicate(letter->mail)) kept.push_back(std::move(letter));
    }
    *this = std::move(kept);
    return before - size_;
  }

  // Moves large values out of memory: `put` gives the blob that a value is in then.
  template <class Put>
  base::Result<void> put_away(const Put& put) {
    if (spillable_ == 0) return {};
    for (Letter* letter = first_.get(); letter != nullptr; letter = letter->next.get()) {
      Mail& mail = letter->mail;
      if (mail.spillable() == 0) continue;
      const base::Hash blob = TRY(put(mail.value));
      spillable_ -= mail.value.size();
      mail.away = PutAway{blob, mail.value.size()};
      mail.value = {};
    }
    return {};
  }

  class Iterator {
   public:
    explicit Iterator(const Letter* at) noexcept : at_(at) {}
    const Mail& operator*() const noexcept { return at_->mail; }
    Iterator& operator++() noexcept {
      at_ = at_->next.get();
      return *this;
    }
    bool operator==(const Iterator&) const noexcept = default;

   private:
    const Letter* at_;
  };
  Iterator begin() const noexcept { return Iterator(first_.get()); }
  Iterator end() const noexcept { return Iterator(nullptr); }

 private:
  std::unique_ptr<Letter> first_;
  Letter* last_ = nullptr;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  std::size_t spillable_ = 0;
};

// Letters that nobody needs at the moment.
class LetterPool {
 public:
  // An empty one.
  std::unique_ptr<Letter> take() {
    if (spare_.empty()) return std::make_unique<Letter>();
    std::unique_ptr<Letter> letter = std::move(spare_.back());
    spare_.pop_back();
    return letter;
  }

  // A few are kept, and none that a large message has made large.
  void give_back(std::unique_ptr<Letter> letter) {
    if (spare_.size() == kMost || letter->mail.value.capacity() > kLargest) return;
    letter->mail.clear();
    spare_.push_back(std::move(letter));
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kLargest = 4096;

  std::vector<std::unique_ptr<Letter>> spare_;
};

}  // namespace holdfast::kernel
