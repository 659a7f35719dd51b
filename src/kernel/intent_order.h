// SPDX-License-Identifier: Apache-2.0
// IntentOrder: the open intents of one instance, in the order of their opening. Taking one out does
// not take longer when there are many: an instance may have thousands of effects open.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "kernel/first_bytes.h"

namespace holdfast::kernel {

class IntentOrder {
 public:
  // Passes over the places of those that were taken out.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = base::Hash;
    using difference_type = std::ptrdiff_t;
    using pointer = const base::Hash*;
    using reference = const base::Hash&;

    const_iterator() = default;
    const_iterator(pointer at, pointer end) : at_(at), end_(end) { pass_gaps(); }
    reference operator*() const { return *at_; }
    pointer operator->() const { return at_; }
    const_iterator& operator++() {
      ++at_;
      pass_gaps();
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.at_ == b.at_;
    }

   private:
    void pass_gaps() {
      while (at_ != end_ && at_->is_zero()) ++at_;
    }
    pointer at_ = nullptr;
    pointer end_ = nullptr;
  };
  using value_type = base::Hash;
  using iterator = const_iterator;

  IntentOrder() = default;
  IntentOrder(const IntentOrder& other) : places_(other.begin(), other.end()) {}
  IntentOrder(IntentOrder&&) noexcept = default;
  IntentOrder& operator=(const IntentOrder& other) { return *this = IntentOrder(other); }
  IntentOrder& operator=(IntentOrder&&) noexcept = default;
  ~IntentOrder() = default;

  const_iterator begin() const { return {places_.data(), places_.data() + places_.size()}; }
  const_iterator end() const {
    const base::Hash* const last = places_.data() + places_.size();
    return {last, last};
  }
  std::size_t size() const noexcept { return places_.size() - (finder_ ? finder_->gaps : 0); }
  bool empty() const noexcept { return size() == 0; }

  void reserve(std::size_t count) { places_.reserve(count + places_.size() - size()); }
  // One that is not in it; not zero.
  void push_back(const base::Hash& intent);
  // Nothing happens if it is not in it.
  void remove(const base::Hash& intent);

 private:
  // Up to this many are looked through: most instances have one or two.
  static constexpr std::size_t kFew = 64;

  struct Finder {
    std::unordered_map<base::Hash, std::size_t, FirstBytes> place_of;
    std::size_t gaps = 0;
  };

  void make_finder();
  void close_gaps();

  std::vector<base::Hash> places_;  // zero: a gap, of one that was taken out
  std::unique_ptr<Finder> finder_;  // only while there are many; without it there are no gaps
};

}  // namespace holdfast::kernel
