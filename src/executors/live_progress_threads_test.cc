// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/sha256.h"
#include "executors/live_progress.h"

namespace holdfast::executors {
namespace {

using namespace std::chrono_literals;

// A node that has no room for a while.
class FullNode : public Reports {
 public:
  enum class Says { kTakes, kHasNoRoom, kRefuses };

  void report(const kernel::ReceiptArrived&) override {}
  void report(const kernel::ProgressArrived&) override {}
  bool offer(const kernel::ProgressArrived& progress, HeardProgress heard) override {
    const std::lock_guard lock(mutex_);
    ++offers;
    if (says == Says::kHasNoRoom) return false;
    const bool takes = says == Says::kTakes;
    if (takes) frames_.push_back(progress.sequence);
    answers_.emplace_back([heard = std::move(heard), takes] {
      if (takes) return heard(kernel::Accepted{});
      kernel::Refused refused;
      refused.code = base::ErrorCode::kUnavailable;
      heard(refused);
    });
    return true;
  }

  std::size_t frames() {
    const std::lock_guard lock(mutex_);
    return frames_.size();
  }

  std::atomic<Says> says = Says::kTakes;
  std::atomic<std::size_t> offers = 0;

  ~FullNode() override {
    for (std::thread& answer : answers_) answer.join();
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint64_t> frames_;
  std::vector<std::thread> answers_;
};

constexpr std::uint8_t kPiece[] = {0x01};

template <class Condition>
bool comes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

class LiveProgressTest : public ::testing::TestWithParam<FullNode::Says> {
 protected:
  ~LiveProgressTest() override {
    progress_->close();
    retries_.end();
  }
  FullNode node_;
  ProgressRetries retries_;
  const std::shared_ptr<LiveProgress> progress_ =
      std::make_shared<LiveProgress>(base::sha256(base::as_bytes("intent")), 0, node_, retries_);
};

TEST_P(LiveProgressTest, what_was_refused_comes_while_the_function_says_nothing) {
  node_.says = GetParam();
  ASSERT_TRUE(progress_->put(kPiece));
  ASSERT_TRUE(comes_true([&] { return node_.offers >= 3; }));  // no function calls it
  EXPECT_EQ(node_.frames(), 0U);
  node_.says = FullNode::Says::kTakes;
  EXPECT_TRUE(comes_true([&] { return node_.frames() == 1; }));
}

TEST_P(LiveProgressTest, pieces_after_a_refusal_come_without_the_end_of_the_function) {
  node_.says = GetParam();
  ASSERT_TRUE(progress_->put(kPiece));
  node_.says = FullNode::Says::kTakes;
  for (int i = 0; i < 100 && node_.frames() < 2; ++i) {
    ASSERT_TRUE(progress_->put(kPiece));
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_GE(node_.frames(), 2U);
}

TEST_P(LiveProgressTest, a_node_that_has_no_room_for_long_is_not_asked_often) {
  node_.says = GetParam();
  ASSERT_TRUE(progress_->put(kPiece));
  const auto end = std::chrono::steady_clock::now() + 1s;
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(progress_->put(kPiece));
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_LE(node_.offers, 12U);
  EXPECT_GE(node_.offers, 3U);
}

INSTANTIATE_TEST_SUITE_P(Refusals, LiveProgressTest,
                         ::testing::Values(FullNode::Says::kHasNoRoom, FullNode::Says::kRefuses));

}  // namespace
}  // namespace holdfast::executors
