// SPDX-License-Identifier: Apache-2.0
// KeptHash: the function of an unordered container that is to keep the hash of each entry beside
// it. Who looks for a key then passes over the others in its bucket by comparing numbers, instead
// of hashing each of them again. libstdc++ keeps the hashes when the function may throw, as far as
// its signature says ("Hash Code" in its manual). It costs eight bytes an entry.
#pragma once

#include <cstddef>

namespace holdfast::base {

template <class HashOf>
struct KeptHash : HashOf {
  template <class Key>
  std::size_t operator()(const Key& key) const noexcept(false) {
    return HashOf::operator()(key);
  }
};

}  // namespace holdfast::base
