// SPDX-License-Identifier: Apache-2.0
#include "node/watchers.h"

#include <gtest/gtest.h>

#include <memory>

#include "kernel/testing_lab.h"

namespace holdfast::node {
namespace {

class WatchersTest : public ::testing::Test {
 protected:
  static kernel::InstanceName name(const char* key, const char* workflow = "t/W@1") {
    const std::string_view text = key;
    return {workflow, base::Bytes(text.begin(), text.end())};
  }
  bool add(std::uint64_t number, const kernel::InstanceName& of) {
    return watchers_.add(number, of, [this, number](kernel::World&) {
      asked_.push_back(number);
      return std::function<void()>();
    });
  }
  // Who is asked when it ends. The questions do not look at the world.
  std::vector<std::uint64_t> end(const kernel::InstanceName& of) {
    std::vector<Question> questions;
    watchers_.take({of.workflow, of.key}, questions);
    asked_.clear();
    for (const Question& question : questions) question(world_);
    return asked_;
  }
  Watchers watchers_;
  std::vector<std::uint64_t> asked_;
  kernel::testing::MemoryBlobs blobs_;
  kernel::testing::Machines machines_{{"none", kernel::testing::keep}};
  kernel::World world_{machines_, blobs_};
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(WatchersTest, those_of_an_instance_are_asked_once_in_their_order_and_no_others) {
  for (const std::uint64_t number : {5u, 2u, 9u}) ASSERT_TRUE(add(number, name("a")));
  ASSERT_TRUE(add(3, name("b")));
  ASSERT_TRUE(add(4, name("a", "t/V@1")));
  EXPECT_EQ(end(name("c")), Numbers{});
  EXPECT_EQ(end(name("a")), (Numbers{2, 5, 9}));
  EXPECT_EQ(end(name("a")), Numbers{});
  EXPECT_EQ(end(name("a", "t/V@1")), Numbers{4});
  EXPECT_FALSE(watchers_.empty());
  EXPECT_EQ(end(name("b")), Numbers{3});
  EXPECT_TRUE(watchers_.empty());
}

TEST_F(WatchersTest, one_that_was_taken_away_is_not_asked_and_lets_go_of_what_it_held) {
  const auto held = std::make_shared<int>(7);
  ASSERT_TRUE(watchers_.add(1, name("a"), [held](kernel::World&) { return [held] {}; }));
  ASSERT_TRUE(add(2, name("a")));
  EXPECT_EQ(held.use_count(), 2);
  watchers_.remove(1);
  EXPECT_EQ(held.use_count(), 1);
  watchers_.remove(1);
  watchers_.remove(99);
  EXPECT_EQ(end(name("a")), Numbers{2});
  watchers_.remove(2);
  EXPECT_TRUE(watchers_.empty());
}

TEST_F(WatchersTest, of_a_million_only_so_many_may_wait_and_each_that_goes_makes_room) {
  std::size_t taken = 0;
  for (std::uint64_t number = 1; number <= 1'000'000; ++number) taken += add(number, name("a"));
  EXPECT_EQ(taken, Watchers::kMost);
  watchers_.remove(17);
  EXPECT_TRUE(add(2'000'000, name("b")));
  EXPECT_FALSE(add(2'000'001, name("b")));
  EXPECT_EQ(end(name("a")).size(), Watchers::kMost - 1);
  EXPECT_TRUE(add(2'000'001, name("b")));
}

}  // namespace
}  // namespace holdfast::node
