// SPDX-License-Identifier: Apache-2.0
// Mailbox: the messages that wait for one instance, first in first out. Most are empty, and an
// empty one costs three pointers: a std::deque would cost half a kilobyte for each instance in
// memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "kernel/mail.h"

namespace holdfast::kernel {

class Mailbox {
 public:
  bool empty() const noexcept { return first_ == mail_.size(); }
  std::size_t size() const noexcept { return mail_.size() - first_; }

  void push_back(Mail mail) { mail_.push_back(std::move(mail)); }
  Mail& emplace_back() { return mail_.emplace_back(); }

  Mail take_front() {
    Mail front = std::move(mail_[first_++]);
    if (empty()) {
      clear();
    } else if (first_ >= kRoom && first_ * 2 >= mail_.size()) {
      mail_.erase(mail_.begin(), begin());  // seldom enough to cost nothing
      first_ = 0;
    }
    return front;
  }

  void clear() noexcept {
    mail_.clear();
    first_ = 0;
  }

  // Takes out what the predicate says; how many those were.
  template <class Predicate>
  std::size_t erase_if(Predicate predicate) {
    mail_.erase(mail_.begin(), begin());
    first_ = 0;
    return std::erase_if(mail_, predicate);
  }

  std::vector<Mail>::const_iterator begin() const noexcept {
    return mail_.begin() + static_cast<std::ptrdiff_t>(first_);
  }
  std::vector<Mail>::const_iterator end() const noexcept { return mail_.end(); }
  const Mail& operator[](std::size_t index) const { return mail_[first_ + index]; }

 private:
  static constexpr std::size_t kRoom = 16;

  std::vector<Mail> mail_;
  std::size_t first_ = 0;  // those before it are gone
};

}  // namespace holdfast::kernel
