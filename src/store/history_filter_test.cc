// SPDX-License-Identifier: Apache-2.0
// What lists are narrowed by: several statuses, the beginning of a key, an error code, times.
#include <gmock/gmock.h>

#include "codec/cbor_writer.h"
#include "store/testing_history_index.h"

namespace holdfast::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HistoryFilterTest : public HistoryIndexTest {
 protected:
  // As keys are in a world: canonical.
  InstanceChange keyed(const std::string& key, const std::string& status) {
    InstanceChange made = change(key, status);
    codec::Buffer out;
    codec::write_text(out, key);
    made.key = out.to_bytes();
    return made;
  }

  // All pages of the query, as one list.
  std::vector<std::string> pages(HistoryQuery query) {
    std::vector<std::string> all;
    do {
      const auto page = index().list(query);
      EXPECT_TRUE(page) << page.error().to_string();
      if (!page) break;
      EXPECT_LE(page->rows.size(), query.limit);
      for (const InstanceRow& row : page->rows) all.push_back(row.key_text);
      query.after = page->next;
    } while (query.after != 0);
    return all;
  }
};

TEST_F(HistoryFilterTest, several_statuses_are_listed_in_one_order) {
  std::vector<InstanceChange> changes;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    const char* const statuses[] = {"waiting", "completed", "failed", "running"};
    changes.push_back(keyed("k" + std::to_string(i), statuses[i % 4]));
    if (i % 4 != 1) expected.insert(expected.begin(), "k" + std::to_string(i));
  }
  ASSERT_TRUE(apply(std::move(changes)));
  for (const std::size_t limit : {1u, 3u, 7u, 100u})
    EXPECT_EQ(pages({.status = "running,waiting,failed", .limit = limit}), expected) << limit;
  EXPECT_EQ(pages({.status = "waiting,waiting", .limit = 3}).size(), 10u) << "named twice";
  EXPECT_THAT(pages({.status = "cancelled,deleted"}), IsEmpty());
}

TEST_F(HistoryFilterTest, keys_are_found_by_how_they_begin) {
  const std::string longer(30, 'x');
  const std::string longest(300, 'y');
  std::vector<InstanceChange> changes;
  for (const std::string& key :
       {std::string("o-1"), std::string("o-12"), std::string("p-1"), "o-1" + longer,
        std::string("o-2"), "o-1" + longest, std::string("o"), std::string("O-1")})
    changes.push_back(keyed(key, key == "o-12" ? "failed" : "waiting"));
  InstanceChange number = change("17", "waiting");
  number.key = {0x11};
  changes.push_back(number);
  ASSERT_TRUE(apply(std::move(changes)));
  EXPECT_THAT(pages({.key = "o-1"}), ElementsAre("o-1" + longest, "o-1" + longer, "o-12", "o-1"));
  EXPECT_THAT(pages({.key = "o-1", .limit = 1}),
              ElementsAre("o-1" + longest, "o-1" + longer, "o-12", "o-1"));
  EXPECT_THAT(pages({.status = "failed,completed", .key = "o-"}), ElementsAre("o-12"));
  EXPECT_THAT(pages({.workflow = "shop/Other@1", .key = "o-"}), IsEmpty());
  EXPECT_THAT(pages({.key = "1"}), IsEmpty()) << "a number is no text";
}

// More than are put in order: instances are looked at in their order instead.
TEST_F(HistoryFilterTest, a_beginning_that_many_keys_have_is_found_too) {
  std::vector<InstanceChange> changes;
  for (int i = 0; i < 6000; ++i) changes.push_back(keyed("many-" + std::to_string(i), "waiting"));
  changes.push_back(keyed("one", "waiting"));
  ASSERT_TRUE(apply(std::move(changes)));
  EXPECT_EQ(pages({.key = "many-", .limit = 1000}).size(), 6000u);
  EXPECT_THAT(pages({.key = "many-599", .limit = 3}).size(), 11u);
  EXPECT_THAT(pages({.key = "on"}), ElementsAre("one"));
}

TEST_F(HistoryFilterTest, those_that_failed_with_a_code_or_are_paused_are_found) {
  InstanceChange busy = keyed("a", "failed");
  busy.error_code = "bank.busy";
  InstanceChange other = keyed("b", "failed");
  other.error_code = "other";
  InstanceChange again = keyed("c", "cancelled");
  again.error_code = "bank.busy";
  InstanceChange paused = keyed("d", "waiting");
  paused.paused = true;
  ASSERT_TRUE(apply({busy, other, again, paused, keyed("e", "waiting")}));
  EXPECT_THAT(pages({.code = "bank.busy", .limit = 1}), ElementsAre("c", "a"));
  EXPECT_THAT(pages({.status = "failed", .code = "bank.busy"}), ElementsAre("a"));
  EXPECT_THAT(pages({.code = "none"}), IsEmpty());
  EXPECT_THAT(pages({.paused = true}), ElementsAre("d"));
  EXPECT_THAT(pages({.workflow = "shop/Other@1", .paused = true}), IsEmpty());
}

TEST_F(HistoryFilterTest, a_time_has_a_beginning_and_an_end) {
  ASSERT_TRUE(apply({keyed("a", "waiting"), keyed("b", "waiting"), keyed("c", "waiting")}));
  EXPECT_THAT(pages({.until_ns = 30}), ElementsAre("b", "a"));
  EXPECT_THAT(pages({.since_ns = 20, .until_ns = 30}), ElementsAre("b"));
}

TEST_F(HistoryFilterTest, what_began_and_ended_is_counted_by_time) {
  const auto at = [&](std::uint64_t seconds, const std::string& key, const std::string& status) {
    InstanceChange made = keyed(key, status);
    made.time_ns = seconds * 1'000'000'000;
    if (is_over(status)) made.ended = made.record << 16;
    return made;
  };
  ASSERT_TRUE(apply({at(100, "a", "waiting"), at(101, "b", "waiting")}));
  ASSERT_TRUE(apply({at(109, "a", "completed"), at(111, "b", "failed"), at(112, "c", "waiting")}));
  ASSERT_TRUE(apply({at(119, "c", "cancelled"), at(119, "gone", "deleted")}));
  const auto rates = index().rates(0, kRateSlotNs);
  ASSERT_TRUE(rates);
  EXPECT_THAT(*rates, ElementsAre(InstanceRate{100'000'000'000, 2, 1, 0, 0},
                                  InstanceRate{110'000'000'000, 1, 0, 1, 1}));
  const auto together = index().rates(100'000'000'000, 3 * kRateSlotNs);
  ASSERT_TRUE(together);
  EXPECT_THAT(*together, ElementsAre(InstanceRate{90'000'000'000, 3, 1, 1, 1}));
  ASSERT_TRUE(apply({at(200'000, "d", "waiting")}));
  const auto kept = index().list({.rates_from_ns = 1, .rates_step_ns = kRateSlotNs});
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->rates, ElementsAre(InstanceRate{200'000'000'000'000, 1, 0, 0, 0}))
      << "what is older than two days is dropped";
}

}  // namespace
}  // namespace holdfast::store::testing
