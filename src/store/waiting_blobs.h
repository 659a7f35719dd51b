// SPDX-License-Identifier: Apache-2.0
// WaitingBlobs: blobs that were put and are not written yet, in the order in which they were put.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace holdfast::store {

class WaitingBlobs {
 public:
  struct Entry {
    base::Hash hash;
    base::Bytes bytes;
  };

  // It must not be there yet.
  void add(const base::Hash& hash, base::ByteView bytes) {
    CHECK(places_.emplace(hash, entries_.size()).second);
    entries_.push_back({hash, base::Bytes(bytes.begin(), bytes.end())});
    size_ += cost_of(bytes.size());
  }

  // As if it had not been added.
  void drop_newest() {
    CHECK(!entries_.empty());
    size_ -= cost_of(entries_.back().bytes.size());
    places_.erase(entries_.back().hash);
    entries_.pop_back();
  }

  // Null: it does not wait. Until the next change.
  const base::Bytes* find(const base::Hash& hash) const {
    const auto found = places_.find(hash);
    return found == places_.end() ? nullptr : &entries_[found->second].bytes;
  }

  const std::vector<Entry>& entries() const noexcept { return entries_; }

  // The memory that they need, about.
  std::size_t size() const noexcept { return size_; }

  void clear() noexcept {
    entries_.clear();
    places_.clear();
    size_ = 0;
  }

 private:
  static constexpr std::size_t cost_of(std::size_t bytes) { return bytes + 200; }

  std::vector<Entry> entries_;
  std::map<base::Hash, std::size_t> places_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::store
