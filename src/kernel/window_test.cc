// SPDX-License-Identifier: Apache-2.0
#include "kernel/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace holdfast::kernel {
namespace {

// Few different hashes, so that keys stand in each other's way.
struct Crowded {
  std::size_t operator()(int key) const noexcept { return static_cast<std::size_t>(key % 7); }
};

template <class HashOf>
void hold_against_a_list(std::size_t limit, int keys) {
  Window<int, int, HashOf> window(limit);
  std::deque<std::pair<int, int>> list;
  std::mt19937 dice(static_cast<unsigned>(limit));
  for (int value = 0; value < 20'000; ++value) {
    const int key = static_cast<int>(dice() % static_cast<unsigned>(keys));
    const auto is_key = [key](const auto& entry) { return entry.first == key; };
    const auto at = std::find_if(list.begin(), list.end(), is_key);
    const int* found = window.find(key);
    ASSERT_EQ(found != nullptr, at != list.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, at->second);
    }

    const bool is_oldest = list.size() == limit && at == list.begin();
    const bool is_new = at == list.end() || is_oldest;
    ASSERT_EQ(window.add(key, value), is_new);
    if (is_new) {
      if (list.size() == limit) list.pop_front();
      list.emplace_back(key, value);
    }
    ASSERT_EQ(window.size(), list.size());
  }
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(window[i], list[i]) << i;
}

TEST(Window, remembers_the_last_ones_in_their_order) {
  for (const std::size_t limit : {1u, 2u, 3u, 15u, 16u, 17u, 100u}) {
    hold_against_a_list<std::hash<int>>(limit, 40);
    hold_against_a_list<std::hash<int>>(limit, 1000);
    hold_against_a_list<Crowded>(limit, 200);
  }
}

TEST(Window, finds_nothing_when_it_is_new) {
  const Window<int, int, std::hash<int>> window(4);
  EXPECT_EQ(window.find(1), nullptr);
  EXPECT_EQ(window.size(), 0u);
}

}  // namespace
}  // namespace holdfast::kernel
