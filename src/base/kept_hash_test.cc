// SPDX-License-Identifier: Apache-2.0
#include "base/kept_hash.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <unordered_set>

namespace holdfast::base {
namespace {

struct Counting {
  std::size_t operator()(int) const noexcept {
    ++calls;
    return 7;  // all in one bucket
  }
  static inline int calls = 0;
};

TEST(KeptHash, nothing_is_hashed_but_what_is_looked_for) {
  std::unordered_set<int, KeptHash<Counting>> set;
  for (int i = 0; i < 100; ++i) set.insert(i);
  Counting::calls = 0;
  EXPECT_TRUE(set.contains(50));
  EXPECT_FALSE(set.contains(100));
  EXPECT_EQ(Counting::calls, 2);
}

}  // namespace
}  // namespace holdfast::base
