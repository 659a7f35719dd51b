// SPDX-License-Identifier: Apache-2.0
#include "dispatch/deliveries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/testing.h"

namespace holdfast::dispatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Dispatch kFirst{1, testing::intent("a")};
const Dispatch kSecond{2, testing::intent("b")};

TEST(Dispatch, its_text_reads_back_and_nothing_else_does) {
  const std::string text = kFirst.to_text();
  EXPECT_EQ(Dispatch::parse(text), kFirst);
  EXPECT_LE(text.size(), 128u);
  for (const std::string& bad :
       std::vector<std::string>{"", ":", "1:", "1", text.substr(1), "0" + text, "+" + text,
                                " " + text, text + "0", "18446744073709551616:" + text.substr(2)})
    EXPECT_FALSE(Dispatch::parse(bad)) << bad;
}

TEST(Deliveries, what_the_worker_does_not_list_is_sent_again_until_it_does) {
  Deliveries all;
  all.leased(kFirst, 10);
  all.leased(kSecond, 10);
  EXPECT_THAT(all.compare({}, 11).missing, ElementsAre(kFirst, kSecond));
  EXPECT_THAT(all.compare({kFirst}, 12).missing, ElementsAre(kSecond));
  EXPECT_THAT(all.compare({kFirst, kSecond}, 13).missing, IsEmpty());
}

TEST(Deliveries, what_the_worker_lists_and_does_not_hold_is_foreign) {
  Deliveries all;
  all.leased(kFirst, 10);
  EXPECT_THAT(all.compare({kFirst, kSecond}, 11).foreign, ElementsAre(kSecond));
  all.ended(kFirst);
  EXPECT_THAT(all.compare({kFirst}, 12).foreign, ElementsAre(kFirst));
}

TEST(Deliveries, the_same_intent_under_another_number_is_foreign) {
  Deliveries all;
  all.leased({7, kFirst.intent}, 10);
  EXPECT_THAT(all.compare({kFirst}, 11).foreign, ElementsAre(kFirst));
}

TEST(Deliveries, a_dispatch_that_is_never_listed_is_denied_after_the_time) {
  Deliveries all;
  all.leased(kFirst, 10);
  all.leased(kSecond, 10);
  all.compare({kSecond}, 50);
  EXPECT_THAT(all.denied(109, 100, 10), IsEmpty());
  EXPECT_THAT(all.denied(110, 100, 10), ElementsAre(kFirst));
}

// Otherwise a worker could begin with it at the moment when it is given to another one.
TEST(Deliveries, a_dispatch_is_sent_no_more_before_it_is_denied) {
  Deliveries all;
  all.leased(kFirst, 10);
  EXPECT_THAT(all.missing(109, 100, 10), ElementsAre(kFirst));
  EXPECT_THAT(all.missing(110, 100, 10), IsEmpty());
  all.restart_clock(200);
  EXPECT_THAT(all.missing(299, 100, 10), ElementsAre(kFirst));
}

TEST(Deliveries, a_dispatch_that_is_listed_no_more_has_the_whole_time) {
  Deliveries all;
  all.leased(kFirst, 10);
  all.compare({kFirst}, 100);
  all.compare({}, 200);
  EXPECT_THAT(all.denied(299, 100, 10), IsEmpty());
  EXPECT_THAT(all.denied(300, 100, 10), ElementsAre(kFirst));
}

TEST(Deliveries, time_in_which_the_worker_was_away_does_not_count) {
  Deliveries all;
  all.leased(kFirst, 10);
  all.restart_clock(500);
  EXPECT_THAT(all.denied(599, 100, 10), IsEmpty());
}

TEST(Deliveries, a_dispatch_of_another_number_is_not_there) {
  Deliveries all;
  all.leased(kFirst, 10);
  EXPECT_TRUE(all.has(kFirst));
  EXPECT_FALSE(all.has({7, kFirst.intent}));
}

TEST(Deliveries, a_stop_is_told_until_the_dispatch_ends) {
  Deliveries all;
  all.leased(kFirst, 10);
  all.stop(kFirst, "cancelled");
  all.stop(kSecond, "cancelled");
  EXPECT_EQ(all.stopping().size(), 1u);
  all.ended(kFirst);
  EXPECT_THAT(all.stopping(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::dispatch
