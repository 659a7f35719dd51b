// SPDX-License-Identifier: Apache-2.0
// HashSieve: finds the hashes of a known set in any bytes, whatever the bytes mean. A hash is found
// as its 32 bytes, and as 64 hexadecimal digits in either case, at any place.
//
// Memory is bounded: it never misses a hash of the set, and may report others, the more of them the
// larger the set is. The caller looks up what it reports.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace holdfast::store {

class HashSieve {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  // What find() looks at before it can tell: parts of one value overlap by one byte less.
  static constexpr std::size_t kLongestName = 64;

  // Sized for so many hashes; it takes more.
  explicit HashSieve(std::uint64_t hashes);

  void add(const base::Hash& hash);

  // Appends every hash of the set that these bytes name, and perhaps others.
  void find(base::ByteView bytes, std::vector<base::Hash>& found) const;

 private:
  struct Place {
    std::size_t word;
    std::uint64_t bits;
  };
  Place place_of(std::uint64_t first_bytes) const noexcept;
  bool may_have(std::uint64_t first_bytes) const noexcept {
    const Place place = place_of(first_bytes);
    return (words_[place.word] & place.bits) == place.bits;
  }

  std::vector<std::uint64_t> words_;  // a power of two of them, two at least
  unsigned shift_;
};

}  // namespace holdfast::store
