// SPDX-License-Identifier: Apache-2.0
// Window: remembers the last N keys with a value each; the oldest is forgotten first. The order is
// part of the world's state, so that replay forgets the same ones.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace holdfast::kernel {

template <class Key, class Value, class Values = std::map<Key, Value, std::less<>>>
class Window {
 public:
  explicit Window(std::size_t limit) : limit_(limit) {}

  template <class Like>
  const Value* find(const Like& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  // The key must not be there.
  void add(Key key, Value value) {
    if (order_.size() == limit_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(key);
    values_.emplace(std::move(key), std::move(value));
  }

  // From the oldest to the newest.
  const std::deque<Key>& keys() const noexcept { return order_; }

 private:
  std::size_t limit_;
  std::deque<Key> order_;
  Values values_;
};

}  // namespace holdfast::kernel
