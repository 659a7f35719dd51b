// SPDX-License-Identifier: Apache-2.0
// Window: remembers the last N keys with a value each; the oldest is forgotten first. The order is
// part of the world's state, so that replay forgets the same ones.
//
// Every tick of a busy world looks here for something that is not there, adds one and forgets one:
// so entries stand in a ring, in their order, and an open table of small slots finds them, which is
// one place in memory for each of the three.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace holdfast::kernel {

// `HashOf` knows keys and whatever they are looked for by.
template <class Key, class Value, class HashOf>
class Window {
 public:
  explicit Window(std::size_t limit) : limit_(limit) { CHECK(limit > 0 && limit < kFree); }

  template <class Like>
  const Value* find(const Like& key) const {
    if (ring_.empty()) return nullptr;
    const Slot& slot = slots_[slot_of(hash_of(key), key)];
    return slot.place == kFree ? nullptr : &ring_[slot.place].second;
  }

  // False: the key is there already.
  [[nodiscard]] bool add(Key key, Value value) {
    if (ring_.size() == limit_) return replace_oldest(std::move(key), std::move(value));
    if ((ring_.size() + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[slot_of(hash_of(key), key)];
    if (slot.place != kFree) return false;
    slot = {hash_of(key), static_cast<std::uint32_t>(ring_.size())};
    ring_.emplace_back(std::move(key), std::move(value));
    return true;
  }

  std::size_t size() const noexcept { return ring_.size(); }

  // From the oldest to the newest.
  using Entry = std::pair<Key, Value>;
  const Entry& operator[](std::size_t index) const {
    const std::size_t place = oldest_ + index;
    return ring_[place < ring_.size() ? place : place - ring_.size()];
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFF'FFFF;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t place = kFree;  // in the ring
  };

  template <class Like>
  static std::uint32_t hash_of(const Like& key) {
    return static_cast<std::uint32_t>(HashOf()(key));
  }

  // Of the key, or the free one where it belongs. There is a free one: half of them are.
  template <class Like>
  std::size_t slot_of(std::uint32_t hash, const Like& key) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].place != kFree &&
           (slots_[at].hash != hash || !(ring_[slots_[at].place].first == key)))
      at = next(at);
    return at;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  bool replace_oldest(Key key, Value value) {
    const std::uint32_t there = slots_[slot_of(hash_of(key), key)].place;
    if (there != kFree && there != oldest_) return false;
    free(slot_of(hash_of(ring_[oldest_].first), ring_[oldest_].first));
    slots_[slot_of(hash_of(key), key)] = {hash_of(key), static_cast<std::uint32_t>(oldest_)};
    ring_[oldest_] = {std::move(key), std::move(value)};
    oldest_ = oldest_ + 1 == limit_ ? 0 : oldest_ + 1;
    return true;
  }

  // Whoever stands behind it because it was taken moves up.
  void free(std::size_t hole) {
    for (std::size_t at = next(hole); slots_[at].place != kFree; at = next(at)) {
      const std::size_t mask = slots_.size() - 1;
      const std::size_t home = slots_[at].hash & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;  // it may not stand so far ahead
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].place = kFree;
  }

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(16, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.place == kFree) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].place != kFree) at = next(at);
      slots_[at] = slot;
    }
  }

  std::size_t limit_;
  std::size_t oldest_ = 0;  // in the ring, which is full; else the first
  std::vector<Entry> ring_;
  std::vector<Slot> slots_;  // a power of two, at least twice the ring
};

}  // namespace holdfast::kernel
