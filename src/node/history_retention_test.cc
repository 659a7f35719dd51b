// SPDX-License-Identifier: Apache-2.0
// What ended long ago is forgotten, in the world and in its history.
#include <gmock/gmock.h>

#include "node/testing_history.h"

namespace holdfast::node {
namespace {

using testing::HistoryTest;
using testing::kSecond;

class RetentionTest : public HistoryTest {
 protected:
  static constexpr std::int64_t kKeepS = 1000;

  RetentionTest() { options_.retention_ns = kKeepS * kSecond; }
  // The world's time is that of the ticks, one second each.
  void set_age(std::int64_t seconds) {
    clock_.set_wall_ns((static_cast<std::int64_t>(now_s_) + seconds) * kSecond);
  }
};

TEST_F(RetentionTest, what_ended_long_ago_is_forgotten_with_its_stream) {
  send("ended", 0);
  send("goes on", 1);
  send("removed", 77);
  set_age(0);
  pass(kKeepS - 10);
  EXPECT_TRUE(is_there("ended")) << "not yet";
  EXPECT_EQ(forgets_, 0);
  pass(20);
  EXPECT_FALSE(is_there("ended"));
  EXPECT_FALSE(has_row("ended"));
  EXPECT_FALSE(has_row("removed"));
  EXPECT_TRUE(is_there("goes on"));
  EXPECT_EQ(read("ended").error().code(), base::ErrorCode::kNotFound);
  const int forgets = forgets_;
  pass(kKeepS);
  EXPECT_EQ(forgets_, forgets) << "nothing is named twice";
  EXPECT_EQ(trouble_, "");
}

TEST_F(RetentionTest, one_who_asked_before_it_was_forgotten_is_not_told_half_of_it) {
  send("a", 0);
  catch_up();
  const StreamQuery before = query("a", 0);
  clock_.advance_ns(2 * kKeepS * kSecond);
  set_age(kKeepS + 1);
  pass(3);
  ASSERT_FALSE(has_row("a"));
  for (const bool again : {false, true}) {
    if (again) send("a", 5);
    catch_up();
    std::optional<base::Result<StreamPage>> answer;
    ASSERT_TRUE(history_->ask(before, [&](auto page) { answer.emplace(std::move(page)); }));
    history_->work();
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error().code(), base::ErrorCode::kNotFound);
  }
}

TEST_F(RetentionTest, whoever_was_touched_in_the_meantime_stays) {
  options_.gather_ns = 5000 * kSecond;
  make();
  send("a", 0);
  history_->work();
  send("a", 3);  // ignored, and not seen by the index
  clock_.advance_ns(2 * kKeepS * kSecond);
  set_age(kKeepS + 1);
  history_->work();
  EXPECT_EQ(forgets_, 1);
  EXPECT_TRUE(is_there("a"));
  clock_.advance_ns(options_.gather_ns);
  set_age(10);
  history_->work();
  EXPECT_EQ(history_->figures().lag, 0u);
  EXPECT_TRUE(has_row("a"));
  EXPECT_EQ(trouble_, "");
}

TEST_F(RetentionTest, very_many_go_in_portions) {
  for (int i = 0; i < 700; ++i) send("e-" + std::to_string(i), 0);
  set_age(kKeepS + 1);
  pass(3);
  EXPECT_FALSE(is_there("e-0"));
  EXPECT_FALSE(is_there("e-699"));
  EXPECT_EQ(forgets_, 3);
  EXPECT_EQ(history_->figures().lag, 0u);
}

TEST_F(RetentionTest, without_retention_nothing_goes) {
  options_.retention_ns = 0;
  make();
  send("a", 0);
  set_age(1'000'000'000);
  pass(10);
  EXPECT_TRUE(is_there("a"));
}

TEST_F(RetentionTest, a_world_that_takes_nothing_is_asked_again_later) {
  bool is_full = true;
  HistoryOptions options = options_;
  int asked = 0;
  options.send = [&](Input input, Heard heard) -> base::Result<void> {
    if (++asked == 1) return base::Error(base::ErrorCode::kUnavailable, "too many inputs wait");
    if (is_full) {
      heard(kernel::Refused(base::ErrorCode::kUnavailable, "the disk is full"));
    } else {
      heard(tick(input.tick()).answer);
    }
    return {};
  };
  options.trouble = [this](const base::Error& error) { trouble_ += error.to_string(); };
  history_ = std::make_unique<History>(open_->folder(), open_->journal(), clock_, options);
  send("a", 0);
  set_age(kKeepS + 1);
  pass(10);
  EXPECT_GE(asked, 3);
  EXPECT_LE(asked, 11);
  EXPECT_TRUE(is_there("a"));
  is_full = false;
  pass(5);
  EXPECT_FALSE(is_there("a"));
  EXPECT_EQ(trouble_, "");
}

// Wherever it is cut, everything goes on: nobody is forgotten too early, and in the end everybody
// is who should be, once.
TEST_F(RetentionTest, the_process_may_die_between_any_two_steps) {
  options_.slice.records = 4;
  make();
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 5; ++i)
      send("r" + std::to_string(round) + "-" + std::to_string(i), i % 2 == 0 ? 0 : 2);
    set_age(kKeepS + 1);
    for (int step = 0; step < round; ++step) {
      clock_.advance_ns(kSecond);
      history_->work();
    }
    restart();
  }
  pass(30);
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 5; ++i) {
      const std::string id = "r" + std::to_string(round) + "-" + std::to_string(i);
      EXPECT_EQ(is_there(id), i % 2 != 0) << id;
      EXPECT_EQ(has_row(id), i % 2 != 0) << id;
    }
  }
  const base::Bytes before = state();
  restart();
  EXPECT_EQ(state(), before);
  EXPECT_EQ(trouble_, "");
}

}  // namespace
}  // namespace holdfast::node
