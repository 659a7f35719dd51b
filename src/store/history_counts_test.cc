// SPDX-License-Identifier: Apache-2.0
// The counts of instances by workflow and status, which triggers keep.
#include <gmock/gmock.h>

#include "store/history_index.h"
#include "store/testing_history_index.h"

namespace holdfast::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> counted(HistoryIndex& index) {
  std::vector<std::string> lines;
  const auto counts = index.counts();
  EXPECT_TRUE(counts);
  if (!counts) return lines;
  for (const InstanceCount& each : *counts)
    lines.push_back(each.workflow + " " + each.status + " " + std::to_string(each.count));
  return lines;
}

TEST_F(HistoryIndexTest, instances_are_counted_by_their_status) {
  EXPECT_THAT(counted(index()), IsEmpty());
  ASSERT_TRUE(apply({change("a", "waiting"), change("b", "waiting"), change("c", "waiting")}));
  EXPECT_THAT(counted(index()), ElementsAre("shop/Order@1 waiting 3"));
  ASSERT_TRUE(apply({change("a", "completed"), change("b", "failed"), change("c", "waiting")}));
  EXPECT_THAT(counted(index()), ElementsAre("shop/Order@1 completed 1", "shop/Order@1 failed 1",
                                            "shop/Order@1 waiting 1"));
  ASSERT_TRUE(apply({change("a", "deleted")}));
  ASSERT_TRUE(apply({change("a", "waiting")}));
  EXPECT_THAT(counted(index()), ElementsAre("shop/Order@1 failed 1", "shop/Order@1 waiting 2"))
      << "a key that begins again is one instance";
}

TEST_F(HistoryIndexTest, counts_are_there_after_opening_again) {
  ASSERT_TRUE(apply({change("a", "waiting"), change("b", "failed")}));
  const auto before = counted(index());
  open();
  EXPECT_EQ(counted(index()), before);
  EXPECT_EQ(before.size(), 2u);
}

TEST_F(HistoryIndexTest, a_list_has_the_counts_if_it_is_asked_for_them) {
  ASSERT_TRUE(apply({change("a", "waiting"), change("b", "failed")}));
  const auto without = index().list({.limit = 1});
  ASSERT_TRUE(without);
  EXPECT_THAT(without->counts, IsEmpty());
  const auto with = index().list({.status = "failed", .limit = 1, .counts = true});
  ASSERT_TRUE(with);
  EXPECT_EQ(with->counts.size(), 2u);
  EXPECT_EQ(with->rows.size(), 1u);
}

// An index of before has neither the table nor the triggers.
TEST_F(HistoryIndexTest, an_index_without_counts_is_counted_when_it_is_opened) {
  ASSERT_TRUE(apply({change("a", "waiting"), change("b", "failed")}));
  ASSERT_TRUE(index().database().run("DROP TRIGGER count_new"));
  ASSERT_TRUE(index().database().run("DROP TRIGGER count_changed"));
  ASSERT_TRUE(index().database().run("DROP TRIGGER count_gone"));
  ASSERT_TRUE(index().database().run("DROP TABLE counts"));
  open();
  EXPECT_THAT(counted(index()), ElementsAre("shop/Order@1 failed 1", "shop/Order@1 waiting 1"));
  ASSERT_TRUE(apply({change("a", "completed")}));
  EXPECT_THAT(counted(index()), ElementsAre("shop/Order@1 completed 1", "shop/Order@1 failed 1"));
}

}  // namespace
}  // namespace holdfast::store::testing
