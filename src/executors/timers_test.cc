// SPDX-License-Identifier: Apache-2.0
#include "executors/timers.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "executors/testing.h"

namespace holdfast::executors {
namespace {

using testing::name;

struct Heard : Reports {
  void report(const kernel::ReceiptArrived& receipt) override {
    fired.push_back(receipt.intent);
    const codec::View payload = codec::View::of(receipt.payload);
    key = std::string(payload.find("key")->text().value_or("none"));
    at = *payload.find("delivered_at_ns")->nat();
  }
  void report(const kernel::ProgressArrived&) override { FAIL(); }
  std::vector<base::Hash> fired;
  std::string key;
  std::uint64_t at = 0;
};

class TimersTest : public ::testing::Test {
 protected:
  void start(std::uint64_t n, std::uint64_t at, const char* key = nullptr) {
    codec::Buffer params;
    codec::write_map_head(params, 2);
    codec::write_text(params, "key");
    if (key == nullptr) {
      codec::write_null(params);
    } else {
      codec::write_text(params, key);
    }
    codec::write_text(params, "deliver_at_ns");
    codec::write_nat(params, at);
    timers_.start({name(n), nullptr, {}, {}, params.view(), nullptr}, heard_);
  }
  std::vector<base::Hash> fire(std::uint64_t now, std::size_t most = 1000) {
    heard_.fired.clear();
    timers_.fire(now, most, heard_);
    return heard_.fired;
  }
  Timers timers_;
  Heard heard_;
};

TEST_F(TimersTest, fire_in_their_order_never_early_and_once) {
  start(1, 30);
  start(2, 10, "mine");
  start(3, 20);
  EXPECT_EQ(timers_.next_ns(), 10u);
  EXPECT_TRUE(fire(9).empty());
  EXPECT_EQ(fire(10), std::vector{name(2)});
  EXPECT_EQ(heard_.key, "mine");
  EXPECT_EQ(heard_.at, 10u);
  EXPECT_EQ(fire(100), (std::vector{name(3), name(1)}));
  EXPECT_TRUE(fire(1000).empty());
  EXPECT_FALSE(timers_.next_ns());
}

TEST_F(TimersTest, params_that_name_no_time_are_an_error_and_no_end) {
  struct Refusal : Reports {
    void report(const kernel::ReceiptArrived& receipt) override { status = receipt.status; }
    void report(const kernel::ProgressArrived&) override { FAIL(); }
    std::optional<kernel::ReceiptStatus> status;
  } refusal;
  codec::Buffer params;
  codec::write_map_head(params, 1);
  codec::write_text(params, "deliver_at_ns");
  codec::write_text(params, "tomorrow");
  timers_.start({name(1), nullptr, {}, {}, params.view(), nullptr}, refusal);
  EXPECT_EQ(refusal.status, kernel::ReceiptStatus::kError);
  EXPECT_FALSE(timers_.next_ns());
}

TEST_F(TimersTest, one_that_is_started_again_fires_once) {
  start(1, 5);
  start(1, 5);
  EXPECT_EQ(fire(5).size(), 1u);
  EXPECT_FALSE(timers_.next_ns());
}

TEST_F(TimersTest, one_that_is_stopped_does_not_fire) {
  start(1, 5, "k");
  start(2, 5);
  timers_.stop(name(1));
  timers_.stop(name(1));
  timers_.stop(name(9));
  EXPECT_EQ(fire(5), std::vector{name(2)});
}

TEST_F(TimersTest, the_next_one_is_never_one_that_was_stopped) {
  for (std::uint64_t n = 0; n < 5; ++n) start(n, n);
  timers_.stop(name(1));
  timers_.stop(name(0));
  EXPECT_EQ(timers_.next_ns(), 2u);
  timers_.stop(name(3));
  EXPECT_EQ(fire(2), std::vector{name(2)});
  EXPECT_EQ(timers_.next_ns(), 4u);
  timers_.stop(name(4));
  EXPECT_FALSE(timers_.next_ns());
}

// More than are kept for later: whatever was stopped, the others fire in their order.
TEST_F(TimersTest, many_that_are_stopped_leave_the_others) {
  std::mt19937_64 random(5);
  std::vector<base::Hash> left;
  for (std::uint64_t n = 0; n < 10'000; ++n) start(n, n);
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    if (random() % 10 == 0) {
      left.push_back(name(n));
    } else {
      timers_.stop(name(n));
    }
  }
  EXPECT_EQ(fire(10'000, 10'000), left);
  EXPECT_FALSE(timers_.next_ns());
}

TEST_F(TimersTest, fire_as_many_as_asked_for_and_the_rest_later) {
  for (std::uint64_t n = 0; n < 10; ++n) start(n, n);
  EXPECT_EQ(fire(100, 4).size(), 4u);
  EXPECT_EQ(timers_.next_ns(), 4u);
  EXPECT_EQ(fire(100).size(), 6u);
}

TEST_F(TimersTest, many_with_a_clock_that_jumps) {
  std::mt19937_64 random(3);
  std::map<base::Hash, std::uint64_t> due;
  for (std::uint64_t n = 0; n < 2000; ++n) {
    const std::uint64_t at = random() % 10'000;
    due[name(n)] = at;
    start(n, at);
  }
  while (timers_.next_ns()) {
    const std::uint64_t now = random() % 12'000;
    for (const base::Hash& intent : fire(now, 50)) {
      ASSERT_EQ(due.count(intent), 1u) << "fired twice";
      EXPECT_LE(due[intent], now);
      due.erase(intent);
    }
  }
  EXPECT_TRUE(due.empty());
}

}  // namespace
}  // namespace holdfast::executors
