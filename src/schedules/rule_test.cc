// SPDX-License-Identifier: Apache-2.0
#include "schedules/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules/testing_zones.h"

namespace holdfast::schedules {
namespace {

using ::testing::ElementsAre;
using testing::ns_at;

constexpr std::uint64_t kMinute = 60 * kSecondNs;

Rule every(std::uint64_t ns, std::uint64_t from) {
  Rule rule;
  rule.every_ns = ns;
  rule.from_ns = from;
  return rule;
}

TEST(Rule, an_interval_begins_at_its_anchor_and_counts_any_number_at_once) {
  const std::uint64_t anchor = ns_at("2026-01-01T00:00:00Z");
  const Rule rule = every(kMinute, anchor);
  DueQuery query{.after_ns = anchor - 1, .until_ns = anchor + 2 * kMinute, .limit = 32};
  const DueTimes first = due_times(rule, Zone::utc(), query);
  EXPECT_THAT(first.due_ns, ElementsAre(anchor, anchor + kMinute, anchor + 2 * kMinute));
  EXPECT_EQ(first.next_ns, anchor + 3 * kMinute);
  EXPECT_TRUE(first.is_complete);

  const std::uint64_t year = 365ULL * 24 * 60 * kMinute;
  query = {.after_ns = anchor, .until_ns = anchor + year, .since_ns = anchor + year, .limit = 32};
  const DueTimes late = due_times(rule, Zone::utc(), query);
  EXPECT_EQ(late.passed, 365u * 24 * 60 - 1);
  EXPECT_THAT(late.due_ns, ElementsAre(anchor + year));
}

TEST(Rule, of_too_many_due_times_the_first_or_the_last_are_listed) {
  const Rule rule = every(kMinute, kMinute);
  DueQuery query{.after_ns = 0, .until_ns = 10 * kMinute, .limit = 3};
  const DueTimes first = due_times(rule, Zone::utc(), query);
  EXPECT_THAT(first.due_ns, ElementsAre(kMinute, 2 * kMinute, 3 * kMinute));
  EXPECT_FALSE(first.is_complete);
  EXPECT_EQ(first.reached_ns, 3 * kMinute);
  query.keeps_last = true;
  const DueTimes last = due_times(rule, Zone::utc(), query);
  EXPECT_THAT(last.due_ns, ElementsAre(8 * kMinute, 9 * kMinute, 10 * kMinute));
  EXPECT_EQ(last.passed, 7u);
  EXPECT_TRUE(last.is_complete);
  EXPECT_EQ(last.next_ns, 11 * kMinute);
}

TEST(Rule, years_of_a_cron_rule_are_counted_in_pieces) {
  Rule rule;
  rule.cron = "* * * * *";
  DueQuery query{.after_ns = ns_at("2026-01-01T00:00:00Z"),
                 .until_ns = ns_at("2027-01-01T00:00:00Z"),
                 .since_ns = ns_at("2027-01-01T00:00:00Z"),
                 .limit = 32};
  std::uint64_t passed = 0;
  int pieces = 0;
  for (;; ++pieces) {
    const DueTimes times = due_times(rule, Zone::utc(), query);
    passed += times.passed + times.due_ns.size();
    if (times.is_complete) break;
    query.after_ns = times.reached_ns;
  }
  EXPECT_EQ(passed, 365u * 24 * 60);
  EXPECT_GT(pieces, 3);
}

TEST(Rule, nothing_is_due_before_its_beginning_or_after_its_end) {
  Rule rule;
  rule.cron = "@daily";
  rule.from_ns = ns_at("2026-02-01T00:00:00Z");
  rule.until_ns = ns_at("2026-02-02T00:00:00Z");
  const DueTimes times = due_times(
      rule, Zone::utc(), {.after_ns = 0, .until_ns = ns_at("2030-01-01T00:00:00Z"), .limit = 32});
  EXPECT_THAT(times.due_ns, ElementsAre(rule.from_ns, rule.until_ns));
  EXPECT_FALSE(times.next_ns);
}

TEST(Rule, one_moment_is_due_once) {
  Rule rule;
  rule.at_ns = 5 * kMinute;
  EXPECT_EQ(due_times(rule, Zone::utc(), {.after_ns = 0}).next_ns, 5 * kMinute);
  EXPECT_FALSE(
      due_times(rule, Zone::utc(), {.after_ns = 5 * kMinute, .until_ns = 5 * kMinute}).next_ns);
}

TEST(Rule, it_has_one_form_and_good_limits) {
  EXPECT_FALSE(check(Rule()));
  Rule two;
  two.cron = "@daily";
  two.every_ns = kMinute;
  EXPECT_FALSE(check(two));
  EXPECT_FALSE(check(every(kSecondNs - 1, 0)));
  EXPECT_TRUE(check(every(kSecondNs, 0)));
  Rule elsewhere;
  elsewhere.cron = "@daily";
  elsewhere.zone = "../../etc/passwd";
  EXPECT_FALSE(check(elsewhere));
}

TEST(Rule, queries_and_answers_are_read_as_they_were_written) {
  Rule rule;
  rule.cron = "30 2 * * *";
  rule.zone = "Europe/Berlin";
  const DueQuery query{1, 2, 3, 4, true};
  codec::Buffer asked;
  write_query(asked, rule, query);
  const auto read = read_query(codec::View::of(asked.view()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rule, rule);
  EXPECT_EQ(read->query.after_ns, 1u);
  EXPECT_EQ(read->query.until_ns, 2u);
  EXPECT_EQ(read->query.since_ns, 3u);
  EXPECT_EQ(read->query.limit, 4u);
  EXPECT_TRUE(read->query.keeps_last);
  codec::Buffer told;
  write_due_times(told, {.due_ns = {7, 8}, .passed = 9, .reached_ns = 8, .is_complete = false});
  const auto times = read_due_times(codec::View::of(told.view()));
  ASSERT_TRUE(times);
  EXPECT_THAT(times->due_ns, ElementsAre(7, 8));
  EXPECT_EQ(times->passed, 9u);
  EXPECT_FALSE(times->is_complete);
  EXPECT_FALSE(times->next_ns);
}

}  // namespace
}  // namespace holdfast::schedules
