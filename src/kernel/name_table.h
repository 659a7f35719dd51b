// SPDX-License-Identifier: Apache-2.0
// NameTable: values by name, filled while a program is built and then looked into on every tick. A
// name is found by one hash and, mostly, one comparison.
//
// The names are those of definitions. Whoever writes them is trusted with more than the speed of
// this table, so its hash need not resist an attacker, but names that are alike must not meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::kernel {

template <class Value>
class NameTable {
 public:
  using Entry = std::pair<std::string, Value>;

  // Null: there is none. It holds until the next emplace.
  const Entry* find(std::string_view name) const noexcept {
    if (slots_.empty()) return nullptr;
    const std::uint32_t index = slots_[place_of(name)];
    return index == kFree ? nullptr : &entries_[index];
  }
  Entry* find(std::string_view name) noexcept {
    return const_cast<Entry*>(std::as_const(*this).find(name));
  }

  // What is there already stays.
  Entry& emplace(std::string_view name, Value value) {
    if (Entry* known = find(name)) return *known;
    if (slots_.size() <= 2 * entries_.size()) grow();
    slots_[place_of(name)] = static_cast<std::uint32_t>(entries_.size());
    return entries_.emplace_back(name, std::move(value));
  }

  // In the order in which they were added.
  template <class Visit>
  void visit(Visit visit) {
    for (auto& [name, value] : entries_) visit(std::as_const(name), value);
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  // The last word overlaps the one before it.
  static std::uint64_t hash(std::string_view name) noexcept {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    __extension__ using Wide = unsigned __int128;
    std::uint64_t hash = name.size();
    // The two halves of a product together: every bit goes into the lower ones, which a table uses.
    const auto add = [&](const char* at, std::size_t size) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, size);
      const Wide product = Wide{hash ^ word} * 0x9e3779b97f4a7c15u;
      hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    if (name.size() < kWord) {
      if (!name.empty()) add(name.data(), name.size());
      return hash;
    }
    const char* at = name.data();
    const char* const last = at + name.size() - kWord;
    for (; at < last; at += kWord) add(at, kWord);
    add(last, kWord);
    return hash;
  }

  // Where the name is, or would be. Half of the slots are free, at least.
  std::size_t place_of(std::string_view name) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash(name) & mask;
    while (slots_[at] != kFree && entries_[slots_[at]].first != name) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 8 : 2 * slots_.size(), kFree);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[place_of(entries_[i].first)] = static_cast<std::uint32_t>(i);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // as many as a power of two says; indices of entries
};

}  // namespace holdfast::kernel
