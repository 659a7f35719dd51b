// SPDX-License-Identifier: Apache-2.0
#include "node/input_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::node {
namespace {

struct Lettered {
  Input input;
  char letter = 0;
};

class TurnLinesTest : public ::testing::Test {
 protected:
  // Each letter is a group of its own.
  void add(char letter, int count) {
    while (groups_ <= static_cast<std::size_t>(letter - 'a')) {
      lines_.add_group();
      ++groups_;
    }
    for (int i = 0; i < count; ++i)
      lines_.add(static_cast<std::size_t>(letter - 'a') * TurnLines<Lettered>::kGroups,
                 {Input::go_on(), letter});
  }
  std::string take(int count) {
    std::string taken;
    for (int i = 0; i < count; ++i) taken += lines_.take().letter;
    return taken;
  }

  TurnLines<Lettered> lines_;
  std::size_t groups_ = 0;
};

TEST_F(TurnLinesTest, groups_of_the_same_size_have_the_same_number_of_turns) {
  add('a', 8);
  add('b', 8);
  const std::string taken = take(12);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 'a'), 6) << taken;
}

TEST_F(TurnLinesTest, beside_one_that_has_most_another_has_two_turns_of_three) {
  add('a', 100);
  add('b', 20);
  EXPECT_EQ(take(12), "babbabbabbab");
}

TEST_F(TurnLinesTest, one_that_has_most_is_passed_over_once_between_two_of_its_turns) {
  add('a', 100);
  for (const char other : {'b', 'c', 'd'}) add(other, 10);
  std::string taken = take(30);
  for (std::size_t at = taken.find('a'), next = 0; at != std::string::npos; at = next) {
    next = taken.find('a', at + 1);
    if (next == std::string::npos) break;
    EXPECT_LE(next - at, 5u) << taken;
  }
}

TEST_F(TurnLinesTest, one_that_is_alone_is_not_passed_over) {
  add('a', 4);
  EXPECT_EQ(take(4), "aaaa");
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace holdfast::node
