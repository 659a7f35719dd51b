// SPDX-License-Identifier: Apache-2.0
// Choices: the decisions that a generator takes, one after the other. rapidcheck makes them and
// shrinks them; when they run out, every further one is 0, which always stands for the simplest
// thing, so a failing case shrinks to a small one whatever is generated from it. For tests only.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace holdfast::codec::testing {

// Cases per property, unless RC_PARAMS asks for another number.
inline const bool kManyCases = setenv("RC_PARAMS", "max_success=10000", 0) == 0;

class Choices {
 public:
  explicit Choices(std::vector<std::uint16_t> all) : all_(std::move(all)) {}

  static Choices any() {
    return Choices(*rc::gen::scale(8.0, rc::gen::arbitrary<std::vector<std::uint16_t>>()));
  }

  std::uint16_t next() { return at_ < all_.size() ? all_[at_++] : 0; }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : next() % bound; }
  bool flip() { return below(2) == 1; }
  bool rarely() { return below(8) == 7; }

  std::uint64_t word() {
    std::uint64_t value = 0;
    for (std::size_t i = below(5); i > 0; --i) value = value << 16 | next();
    return value;
  }

  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      const std::size_t other = i + below(list.size() - i);
      if (other != i) std::swap(list[i], list[other]);
    }
  }

 private:
  std::vector<std::uint16_t> all_;
  std::size_t at_ = 0;
};

}  // namespace holdfast::codec::testing
