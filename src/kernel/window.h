// SPDX-License-Identifier: Apache-2.0
// Window: remembers the last N keys with a value each; the oldest is forgotten first. The order is
// part of the world's state, so that replay forgets the same ones.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/kept_hash.h"

namespace holdfast::kernel {

// `HashOf` knows keys and whatever they are looked for by.
template <class Key, class Value, class HashOf>
class Window {
 public:
  explicit Window(std::size_t limit) : limit_(limit) {}
  // The order points into the table: a copy would point into the table of another.
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  Window(Window&&) noexcept = default;
  Window& operator=(Window&&) noexcept = default;
  ~Window() = default;

  template <class Like>
  const Value* find(const Like& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  // False: the key is there already.
  [[nodiscard]] bool add(Key key, Value value) {
    if (order_.size() == limit_) {
      values_.erase(values_.find(order_.front()->first));
      order_.pop_front();
    }
    const auto [place, added] = values_.emplace(std::move(key), std::move(value));
    if (added) order_.push_back(&*place);
    return added;
  }

  // From the oldest to the newest.
  using Entry = std::pair<const Key, Value>;
  const std::deque<const Entry*>& entries() const noexcept { return order_; }

 private:
  std::size_t limit_;
  std::unordered_map<Key, Value, base::KeptHash<HashOf>, std::equal_to<>> values_;
  std::deque<const Entry*> order_;
};

}  // namespace holdfast::kernel
