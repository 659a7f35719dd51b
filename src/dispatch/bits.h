// SPDX-License-Identifier: Apache-2.0
// Bits: a set of small numbers, for sets of workers. To find those that are in two sets costs a
// word for 64 workers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::dispatch {

class Bits {
 public:
  void set(std::size_t number, bool is_in) {
    const std::size_t word = number / 64;
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    if (word >= words_.size()) {
      if (!is_in) return;
      words_.resize(word + 1);
    }
    words_[word] = is_in ? words_[word] | bit : words_[word] & ~bit;
  }

  bool has(std::size_t number) const noexcept {
    const std::size_t word = number / 64;
    return word < words_.size() && (words_[word] >> (number % 64) & 1u) != 0;
  }

  bool none() const noexcept {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }

  void clear() noexcept { words_.clear(); }

  friend bool meet(const Bits& a, const Bits& b) noexcept {
    return first_in_both(a, b, 0).has_value();
  }

  // The first number from `from` on that both have.
  friend std::optional<std::size_t> first_in_both(const Bits& a, const Bits& b,
                                                  std::size_t from) noexcept {
    const std::size_t words = a.words_.size() < b.words_.size() ? a.words_.size() : b.words_.size();
    for (std::size_t word = from / 64; word < words; ++word) {
      std::uint64_t both = a.words_[word] & b.words_[word];
      if (word == from / 64) both &= ~std::uint64_t{0} << (from % 64);
      if (both != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(both));
    }
    return std::nullopt;
  }

 private:
  std::vector<std::uint64_t> words_;
};

bool meet(const Bits& a, const Bits& b) noexcept;
std::optional<std::size_t> first_in_both(const Bits& a, const Bits& b, std::size_t from) noexcept;

}  // namespace holdfast::dispatch
