// SPDX-License-Identifier: Apache-2.0
#include "holdfast/retry.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

StepFailure failure(std::uint64_t failures, Duration elapsed = {}, std::uint64_t seed = 1) {
  return {.code = "http.503",
          .message = "the server is busy",
          .failures = failures,
          .elapsed = elapsed,
          .seed = seed};
}

std::vector<Duration> first(const Wait& wait, std::uint64_t count) {
  std::vector<Duration> all;
  for (std::uint64_t i = 1; i <= count; ++i) all.push_back(wait(failure(i)));
  return all;
}

using Waits = std::vector<Duration>;

TEST(Retry, without_policy_there_is_none) { EXPECT_FALSE(Retry().judge(failure(1))); }

TEST(Retry, waits_are_fixed_growing_or_one_after_another) {
  EXPECT_EQ(first(fixed(5s), 3), Waits({5s, 5s, 5s}));
  EXPECT_EQ(first(exponential(1s), 4), Waits({1s, 2s, 4s, 8s}));
  EXPECT_EQ(first(exponential(1s, 3, 10s), 4), Waits({1s, 3s, 9s, 10s}));
  EXPECT_EQ(first(incrementing(1s, 2s, 4s), 4), Waits({1s, 3s, 4s, 4s}));
  EXPECT_EQ(first(chain({fixed(1s), fixed(7s)}), 3), Waits({1s, 7s, 7s}));
  EXPECT_EQ(first(chain({}), 1), Waits({0s}));
  EXPECT_EQ(first(fixed(1s) + exponential(1s), 3), Waits({2s, 3s, 5s}));
}

TEST(Retry, a_wait_never_passes_its_bound) {
  EXPECT_EQ(exponential(1s)(failure(10'000)), kLongestWait);
  EXPECT_EQ(incrementing(1s, 1h)(failure(UINT64_MAX)), kLongestWait);
}

// One that wrapped around would be below nothing, and tried again at once for ever.
TEST(Retry, waits_that_are_added_stay_at_the_longest_there_is) {
  const Retry retry(fixed(Duration::max()) + fixed(1s), never_stop());
  EXPECT_EQ(retry.judge(failure(1)), Duration::max());
  EXPECT_EQ((fixed(Duration::min()) + fixed(-1s))(failure(1)), Duration::min());
  EXPECT_EQ((fixed(Duration::max()) + fixed(-1s))(failure(1)), Duration::max() - 1s);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    EXPECT_GE(random_wait(Duration::min(), Duration::max())(failure(1, {}, seed)), Duration::min());
    EXPECT_GE(random_wait(-1s, Duration::max())(failure(1, {}, seed)), -1s);
    EXPECT_EQ(random_wait(3s, 1s)(failure(1, {}, seed)), 3s);
  }
}

TEST(Retry, a_next_attempt_beyond_all_time_is_not_before_anything) {
  const Retry retry(fixed(Duration::max()), before(1min));
  EXPECT_FALSE(retry.judge(failure(1, 1s)));
}

TEST(Retry, numbers_that_make_no_sense_are_no_reason_to_try_again_at_once) {
  EXPECT_EQ(exponential(1s, std::nan(""), 9s)(failure(2)), 9s);
  EXPECT_EQ(exponential(0s)(failure(10'000)), 0s);
  EXPECT_EQ(exponential(1s)(failure(0)), 1s);
  EXPECT_EQ(incrementing(1s, 1s)(failure(0)), 1s);
  EXPECT_EQ(chain({fixed(1s), fixed(7s)})(failure(0)), 1s);
}

TEST(Retry, chance_is_the_same_for_the_same_failure) {
  const Wait wait = random_wait(1s, 3s);
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Duration waited = wait(failure(1, {}, seed));
    EXPECT_EQ(waited, wait(failure(2, {}, seed)));
    EXPECT_GE(waited, 1s);
    EXPECT_LE(waited, 3s);
    differs |= waited != wait(failure(1, {}, seed + 1));
    EXPECT_LE(jittered(fixed(2s))(failure(1, {}, seed)), 2s);
  }
  EXPECT_TRUE(differs);
}

TEST(Retry, stops_after_attempts_or_a_time) {
  const Retry three(fixed(5s), after_attempts(3));
  EXPECT_EQ(three.judge(failure(1)), 5s);
  EXPECT_EQ(three.judge(failure(2)), 5s);
  EXPECT_FALSE(three.judge(failure(3)));
  const Retry minute(fixed(5s), after(1min));
  EXPECT_TRUE(minute.judge(failure(99, 59s)));
  EXPECT_FALSE(minute.judge(failure(1, 60s)));
  EXPECT_TRUE(Retry(fixed(5s), never_stop()).judge(failure(1'000'000, 24h)));
}

// Attempts at 0, 0.2 and 0.4 s; the next one would be at 0.6.
TEST(Retry, stops_before_a_sleep_that_would_be_too_long) {
  const Retry retry(fixed(200ms), before(600ms));
  EXPECT_TRUE(retry.judge(failure(1, 0ms)));
  EXPECT_TRUE(retry.judge(failure(2, 200ms)));
  EXPECT_FALSE(retry.judge(failure(3, 400ms)));
}

TEST(Retry, stops_compose) {
  const Retry either(fixed(1s), after_attempts(3) || after(1min));
  EXPECT_FALSE(either.judge(failure(3, 1s)));
  EXPECT_FALSE(either.judge(failure(1, 1min)));
  const Retry both(fixed(1s), after_attempts(3) && after(1min));
  EXPECT_TRUE(both.judge(failure(3, 1s)));
  EXPECT_FALSE(both.judge(failure(3, 1min)));
}

TEST(Retry, only_of_failures_that_are_worth_it) {
  const Retry busy =
      Retry(fixed(1s), after_attempts(9)).only_if(has_code({"http.503"})).only_if(says("busy"));
  EXPECT_TRUE(busy.judge(failure(1)));
  StepFailure other = failure(1);
  other.code = "http.404";
  EXPECT_FALSE(busy.judge(other));
  other = failure(1);
  other.message = "gone";
  EXPECT_FALSE(busy.judge(other));
}

TEST(Retry, a_wait_below_nothing_is_nothing) {
  EXPECT_EQ(Retry(fixed(-1s), after_attempts(2)).judge(failure(1)), Duration(0));
}

}  // namespace
}  // namespace holdfast
