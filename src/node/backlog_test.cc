// SPDX-License-Identifier: Apache-2.0
#include "node/backlog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/sha256.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;

base::Hash intent_named(std::string_view name) { return base::sha256(base::as_bytes(name)); }

// Those that were taken, by the names they were added with.
class BacklogTest : public ::testing::Test {
 protected:
  void add(const std::string& line, const std::string& name) {
    names_[intent_named(name)] = name;
    backlog_.add(line, intent_named(name));
  }
  std::vector<std::string> take(std::size_t most, const std::string& has_no_room = "-") {
    std::vector<std::string> taken;
    backlog_.offer(most, [&](const base::Hash& intent) {
      if (names_[intent].starts_with(has_no_room)) return Backlog::Offered::kNoRoom;
      taken.push_back(names_[intent]);
      return Backlog::Offered::kTaken;
    });
    return taken;
  }
  Backlog backlog_;
  std::map<base::Hash, std::string> names_;
};

TEST_F(BacklogTest, lines_take_turns_and_each_stays_in_order) {
  for (int i = 0; i < 1000; ++i) add("a", "a" + std::to_string(i));
  add("b", "b0");
  add("b", "b1");
  add("c", "c0");
  EXPECT_THAT(take(6), ElementsAre("a0", "b0", "c0", "a1", "b1", "a2"));
  EXPECT_EQ(backlog_.size(), 997u);
}

TEST_F(BacklogTest, a_line_without_room_does_not_hold_up_the_others) {
  for (int i = 0; i < 3; ++i) add("a", "a" + std::to_string(i));
  for (int i = 0; i < 3; ++i) add("b", "b" + std::to_string(i));
  EXPECT_THAT(take(10, "a"), ElementsAre("b0", "b1", "b2"));
  EXPECT_THAT(take(10), ElementsAre("a0", "a1", "a2"));
  EXPECT_TRUE(backlog_.empty());
}

TEST_F(BacklogTest, what_has_settled_is_not_offered) {
  for (const char* name : {"a0", "a1", "a2"}) add("a", name);
  backlog_.remove(intent_named("a1"));
  backlog_.remove(intent_named("never added"));
  EXPECT_THAT(take(10), ElementsAre("a0", "a2"));
}

// A workflow that opens effects and gives them up again, while their executor is stuck.
TEST_F(BacklogTest, what_has_settled_does_not_stay_however_long_nothing_is_taken) {
  add("a", "first");
  for (int i = 0; i < 100'000; ++i) {
    add("a", std::to_string(i));
    backlog_.remove(intent_named(std::to_string(i)));
    ASSERT_LE(backlog_.size(), 4096u);
  }
  EXPECT_THAT(take(10'000), ElementsAre("first"));
}

}  // namespace
}  // namespace holdfast::node
