// SPDX-License-Identifier: Apache-2.0
// Mailbox: the messages that wait for one instance, first in first out. Most are empty, and most
// others hold one message for as long as a tick takes: letters are used again, with the room that
// their texts have, and go from hand to hand without being copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/mail.h"

namespace holdfast::kernel {

struct Letter {
  Mail mail;
  std::size_t weight = 0;   // while it is in a mailbox
  std::uint64_t order = 0;  // its place in the mailbox that it is or was in
  std::unique_ptr<Letter> next;
};

// Events stand in one queue and what came back from effects in another, so that an instance which
// holds events back finds an answer without passing all of them.
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(Mailbox&& other) noexcept { swap(other); }
  Mailbox& operator=(Mailbox&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Mailbox() { clear(); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return bytes_; }          // by weight
  std::size_t spillable() const noexcept { return spillable_; }  // what put_away would free
  bool has_answers() const noexcept { return answers_.first != nullptr; }

  // Of messages that need room to be admitted: all but terminal results, each of which was asked
  // for, and is bounded by the effects that may be open.
  std::size_t counted() const noexcept { return counted_; }
  std::size_t counted_bytes() const noexcept { return counted_bytes_; }

  void push_back(std::unique_ptr<Letter> letter) noexcept {
    letter->order = ++last_order_;
    letter->weight = letter->mail.weight();
    count(*letter);
    queue_of(letter->mail).push_back(std::move(letter));
  }

  void push_back(Mail mail) {
    auto letter = std::make_unique<Letter>();
    letter->mail = std::move(mail);
    push_back(std::move(letter));
  }

  // There must be one.
  std::unique_ptr<Letter> take_front() noexcept {
    const bool is_answer =
        events_.first == nullptr ||
        (answers_.first != nullptr && answers_.first->order < events_.first->order);
    return take_from(is_answer ? answers_ : events_);
  }

  // The first message that is no event. There must be one.
  std::unique_ptr<Letter> take_answer() noexcept { return take_from(answers_); }

  // Puts a message that was taken, and of whose kind no later one was, back into its place.
  void put_back(std::unique_ptr<Letter> letter) noexcept {
    count(*letter);
    queue_of(letter->mail).push_front(std::move(letter));
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
    for (Queue* queue : {&events_, &answers_}) {
      for (Letter* letter = queue->first.get(); letter != nullptr && spillable_ != 0;
           letter = letter->next.get()) {
        Mail& mail = letter->mail;
        if (mail.spillable() == 0) continue;
        const base::Hash blob = TRY(put(mail.value));
        spillable_ -= mail.value.size();
        mail.away = PutAway{blob, mail.value.size()};
        mail.value = {};
      }
    }
    return {};
  }

  // In the order in which they came.
  class Iterator {
   public:
    Iterator(const Letter* event, const Letter* answer) noexcept : event_(event), answer_(answer) {}
    const Mail& operator*() const noexcept { return at()->mail; }
    Iterator& operator++() noexcept {
      const Letter*& next = at() == event_ ? event_ : answer_;
      next = next->next.get();
      return *this;
    }
    bool operator==(const Iterator&) const noexcept = default;

   private:
    const Letter* at() const noexcept {
      const bool is_event =
          answer_ == nullptr || (event_ != nullptr && event_->order < answer_->order);
      return is_event ? event_ : answer_;
    }

    const Letter* event_;
    const Letter* answer_;
  };
  Iterator begin() const noexcept { return {events_.first.get(), answers_.first.get()}; }
  Iterator end() const noexcept { return {nullptr, nullptr}; }

 private:
  struct Queue {
    std::unique_ptr<Letter> first;
    Letter* last = nullptr;

    void push_back(std::unique_ptr<Letter> letter) noexcept {
      Letter* const added = letter.get();
      (last == nullptr ? first : last->next) = std::move(letter);
      last = added;
    }
    void push_front(std::unique_ptr<Letter> letter) noexcept {
      if (last == nullptr) last = letter.get();
      letter->next = std::move(first);
      first = std::move(letter);
    }
  };

  Queue& queue_of(const Mail& mail) noexcept {
    return mail.kind == MailKind::kEvent ? events_ : answers_;
  }
  static bool needs_room(const Mail& mail) noexcept {
    return mail.kind == MailKind::kEvent || mail.kind == MailKind::kProgress;
  }

  void count(const Letter& letter) noexcept {
    ++size_;
    bytes_ += letter.weight;
    spillable_ += letter.mail.spillable();
    if (!needs_room(letter.mail)) return;
    ++counted_;
    counted_bytes_ += letter.weight;
  }

  std::unique_ptr<Letter> take_from(Queue& queue) noexcept {
    std::unique_ptr<Letter> front = std::move(queue.first);
    queue.first = std::move(front->next);
    if (queue.first == nullptr) queue.last = nullptr;
    --size_;
    bytes_ -= front->weight;
    spillable_ -= front->mail.spillable();
    if (needs_room(front->mail)) {
      --counted_;
      counted_bytes_ -= front->weight;
    }
    return front;
  }

  void swap(Mailbox& other) noexcept {
    std::swap(events_, other.events_);
    std::swap(answers_, other.answers_);
    std::swap(last_order_, other.last_order_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(spillable_, other.spillable_);
    std::swap(counted_, other.counted_);
    std::swap(counted_bytes_, other.counted_bytes_);
  }

  Queue events_;
  Queue answers_;
  std::uint64_t last_order_ = 0;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  std::size_t spillable_ = 0;
  std::size_t counted_ = 0;
  std::size_t counted_bytes_ = 0;
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
