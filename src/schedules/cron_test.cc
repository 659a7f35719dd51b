// SPDX-License-Identifier: Apache-2.0
#include "schedules/cron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules/testing_zones.h"

namespace holdfast::schedules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::s_at;
using testing::text_of_s;
using testing::zone_named;

std::vector<std::string> due_after(std::string_view cron_text, const std::string& zone_name,
                                   std::string_view after, int count) {
  const auto cron = Cron::parse(cron_text);
  EXPECT_TRUE(cron) << cron.error().to_string();
  std::vector<std::string> times;
  if (!cron) return times;
  const Zone zone = zone_named(zone_name);
  std::int64_t at = s_at(after);
  for (int i = 0; i < count; ++i) {
    const auto due = cron->next(at, zone);
    if (!due) break;
    EXPECT_GT(*due, at);
    at = *due;
    times.push_back(text_of_s(at));
  }
  return times;
}

TEST(Cron, fields_are_numbers_ranges_steps_lists_and_names) {
  EXPECT_THAT(due_after("*/20 9-10 * * *", "UTC", "2026-01-01T09:30:00Z", 4),
              ElementsAre("2026-01-01T09:40:00Z", "2026-01-01T10:00:00Z", "2026-01-01T10:20:00Z",
                          "2026-01-01T10:40:00Z"));
  EXPECT_THAT(due_after("0 12 * FEB mon,WED", "UTC", "2026-01-31T00:00:00Z", 3),
              ElementsAre("2026-02-02T12:00:00Z", "2026-02-04T12:00:00Z", "2026-02-09T12:00:00Z"));
  EXPECT_THAT(due_after("0 0 L * *", "UTC", "2028-01-31T00:00:00Z", 3),
              ElementsAre("2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z", "2028-04-30T00:00:00Z"));
  EXPECT_THAT(due_after("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1),
              ElementsAre("2104-02-29T00:00:00Z"));
  EXPECT_THAT(due_after("*/30 * * * * *", "UTC", "2026-01-01T00:00:00Z", 3),
              ElementsAre("2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:30Z"));
  EXPECT_THAT(due_after("@weekly", "UTC", "2026-11-18T00:00:00Z", 1),
              ElementsAre("2026-11-22T00:00:00Z"));
  EXPECT_THAT(due_after("0 0 * * 7", "UTC", "2026-11-18T00:00:00Z", 1),
              ElementsAre("2026-11-22T00:00:00Z"));
}

TEST(Cron, of_two_restricted_days_one_is_enough) {
  EXPECT_THAT(due_after("0 0 13 * FRI", "UTC", "2026-02-01T00:00:00Z", 3),
              ElementsAre("2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"));
  EXPECT_THAT(due_after("0 0 */2 * FRI", "UTC", "2026-02-01T00:00:00Z", 2),
              ElementsAre("2026-02-13T00:00:00Z", "2026-02-27T00:00:00Z"))
      << "a day that begins with * restricts nothing by itself: both must fit, as in Vixie cron";
}

TEST(Cron, a_time_that_clocks_leave_out_is_due_at_the_change) {
  EXPECT_THAT(due_after("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3),
              ElementsAre("2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"));
  EXPECT_THAT(due_after("*/20 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 2),
              ElementsAre("2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"))
      << "three times that are left out are one due time";
  EXPECT_THAT(due_after("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2),
              ElementsAre("2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"));
  EXPECT_THAT(due_after("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T12:00:00Z", 3),
              ElementsAre("2026-10-02T15:45:00Z", "2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"));
  EXPECT_THAT(due_after("0 12 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00Z", 2),
              ElementsAre("2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z"))
      << "the whole day was left out";
}

TEST(Cron, a_time_that_comes_twice_is_due_once) {
  EXPECT_THAT(due_after("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
              ElementsAre("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"));
  EXPECT_THAT(due_after("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2),
              ElementsAre("2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"));
}

TEST(Cron, with_any_hour_it_goes_by_the_hours_that_pass) {
  EXPECT_THAT(due_after("30 * * * *", "Europe/Berlin", "2026-10-24T23:31:00Z", 4),
              ElementsAre("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z",
                          "2026-10-25T03:30:00Z"));
  EXPECT_THAT(due_after("30 * * * *", "Europe/Berlin", "2026-03-28T23:31:00Z", 3),
              ElementsAre("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"));
  EXPECT_THAT(due_after("0 * * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", 2),
              ElementsAre("2026-01-01T00:30:00Z", "2026-01-01T01:30:00Z"));
}

TEST(Cron, a_bad_expression_says_what_is_wrong) {
  const auto refusal = [](std::string_view text) {
    const auto cron = Cron::parse(text);
    return cron ? std::string("taken") : cron.error().to_string();
  };
  EXPECT_THAT(refusal("61 * * * *"), HasSubstr("'61' is not a good minute"));
  EXPECT_THAT(refusal("* 24 * * *"), HasSubstr("'24' is not a good hour"));
  EXPECT_THAT(refusal("* * 0 * *"), HasSubstr("day of the month"));
  EXPECT_THAT(refusal("* * * FOO *"), HasSubstr("'FOO' is not a good month"));
  EXPECT_THAT(refusal("* * * * 8"), HasSubstr("day of the week"));
  EXPECT_THAT(refusal("5-1 * * * *"), HasSubstr("minute"));
  EXPECT_THAT(refusal("*/0 * * * *"), HasSubstr("minute"));
  EXPECT_THAT(refusal("1,,2 * * *"), HasSubstr("5 fields"));
  EXPECT_THAT(refusal(",1 * * * *"), HasSubstr("minute"));
  EXPECT_THAT(refusal("* * * *"), HasSubstr("5 fields"));
  EXPECT_THAT(refusal("@never"), HasSubstr("5 fields"));
  EXPECT_THAT(refusal("0 0 30 2 *"), HasSubstr("no day fits it"));
  EXPECT_THAT(refusal(std::string(300, '*')), HasSubstr("256"));
}

// Every second of two days around each change, held against the plainest reading of the fields.
TEST(Cron, around_changes_it_agrees_with_a_clock_that_is_looked_at_every_second) {
  const Zone zone = zone_named("Europe/Berlin");
  const auto cron = Cron::parse("15,45 * * * *");
  ASSERT_TRUE(cron);
  for (const char* begins : {"2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"}) {
    std::int64_t expected = s_at(begins);
    for (std::int64_t at = expected + 1; at < s_at(begins) + 86400; ++at) {
      const std::int64_t in_hour = (at + zone.offset_at(at)) % 3600;
      if (in_hour != 15 * 60 && in_hour != 45 * 60) continue;
      EXPECT_EQ(cron->next(expected, zone), at);
      expected = at;
    }
  }
}

}  // namespace
}  // namespace holdfast::schedules
