// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "engine/history_visit.h"
#include "env/clock.h"
#include "env/testing.h"
#include "store/testing_snapshots.h"

namespace holdfast::engine {
namespace {

// A history with a thread of its own, of a world without records.
class HistoryVisitTest : public ::testing::Test {
 protected:
  ~HistoryVisitTest() override {
    history_.stop();
    worker_.join();
    history_.finish();
  }
  base::Result<bool> visit(store::BackupSource::Step step,
                           const store::BackupSource::Between& between) {
    return visit_history(history_, store::WorldPlace::of(open_->world->folder), store::kHistoryFile,
                         std::move(step), between, [] { return false; });
  }

  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
  std::unique_ptr<env::Clock> clock_ = env::posix_clock();
  std::unique_ptr<store::testing::OpenSnapshots> open_ =
      store::testing::open_snapshots(disk_, *random_).take();
  node::History history_{open_->world->folder, open_->journal(), *clock_, {}};
  std::thread worker_{[this] {
    while (history_.wait_for_work()) history_.work();
  }};
};

TEST_F(HistoryVisitTest, between_two_steps_whoever_copies_can_wait) {
  int steps = 0;
  int pauses = 0;
  const auto visited = visit(
      [&](store::SqliteDatabase&) -> base::Result<bool> {
        EXPECT_EQ(std::this_thread::get_id(), worker_.get_id());
        EXPECT_EQ(pauses, steps);
        return ++steps < 10;
      },
      [&]() -> base::Result<void> {
        EXPECT_EQ(steps, ++pauses);
        return {};
      });
  ASSERT_TRUE(visited) << visited.error().to_string();
  EXPECT_TRUE(*visited);
  EXPECT_EQ(steps, 10);
  EXPECT_EQ(pauses, 9) << "none after the last one";
}

TEST_F(HistoryVisitTest, it_ends_after_the_step_at_which_it_is_to_end) {
  int steps = 0;
  const auto owned = std::make_shared<int>();
  const auto visited = visit(
      [&, owned](store::SqliteDatabase&) -> base::Result<bool> {
        ++steps;
        return true;
      },
      [&]() -> base::Result<void> {
        if (steps < 3) return {};
        return base::Error(base::ErrorCode::kEnded, "enough");
      });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().message(), "enough");
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(owned.use_count(), 1) << "the step is gone";
}

TEST_F(HistoryVisitTest, an_error_of_a_step_ends_it) {
  const auto visited = visit(
      [](store::SqliteDatabase&) -> base::Result<bool> {
        return base::Error(base::ErrorCode::kIo, "broken");
      },
      [] { return base::Result<void>(); });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().message(), "broken");
}

}  // namespace
}  // namespace holdfast::engine
