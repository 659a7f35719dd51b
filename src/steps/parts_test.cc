// SPDX-License-Identifier: Apache-2.0
#include "steps/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/record_view.h"
#include "steps/testing_stage.h"
#include "steps/testing_wide_run.h"

namespace holdfast::steps::testing {
namespace {

// Fans out into so many, sums what comes back. Some fail once, and are tried again later.
Story fan_story(std::uint64_t elements, std::uint64_t flaky = 0) {
  Story story;
  story.graph = R"(
      split: Start -> A[]
      work*3: A -> B
      sum: B[] -> Stop)";
  story.bodies["split"] = [elements](const Seen&, Doing& d) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 1; i <= elements; ++i) all.push_back(i);
    d.returns_list("A", all);
  };
  story.bodies["work"] = [flaky](const Seen& s, Doing& d) {
    if (flaky != 0 && s.n % flaky == 0 && s.failures == 0) return void(d.fails("flaky", 5'000));
    d.returns("B", s.n);
  };
  story.bodies["sum"] = [](const Seen& s, Doing& d) {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : s.numbers) sum += n;
    d.returns("Stop", sum);
  };
  return story;
}

std::size_t parts_of(Stage& stage) {
  const auto cell = stage.world().find(kWorkflow, Stage::key());
  return cell && *cell != nullptr ? (*cell)->parts.size() : 0;
}

bool ends_with(const base::Bytes& record, std::string_view note) {
  const auto view = kernel::read_record(record);
  EXPECT_TRUE(view);
  return !view->notes.empty() && view->notes.back().front() == note;
}

TEST(Parts, a_wide_fan_out_keeps_its_elements_beside_the_state_and_comes_to_its_end) {
  const Story story = fan_story(1000);
  Stage stage(story);
  std::size_t most = 0;
  std::size_t largest = 0;
  while (stage.play_once()) {
    most = std::max(most, parts_of(stage));
    const auto cell = stage.world().find(kWorkflow, Stage::key());
    if (cell && *cell != nullptr) largest = std::max(largest, (*cell)->state.size());
  }
  EXPECT_EQ(stage.ending(), "completed 500500");
  EXPECT_GT(most, 10U);
  EXPECT_LT(largest, 24U << 10);
}

TEST(Parts, few_elements_stay_in_the_state_and_their_records_need_no_new_rules) {
  const Story story = fan_story(2 * kPerPart);
  Stage stage(story);
  while (stage.play_once()) ASSERT_EQ(parts_of(stage), 0U);
  EXPECT_EQ(stage.ending(), "completed 8256");
  for (const base::Bytes& record : stage.journal()) EXPECT_FALSE(ends_with(record, "rules.3"));
}

TEST(Parts, records_say_that_a_state_has_some_and_are_replayed_byte_for_byte) {
  const Story story = fan_story(400, 7);
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 80200");
  std::size_t marked = 0;
  for (const base::Bytes& record : stage.journal())
    marked += ends_with(record, "rules.3") ? 1U : 0U;
  EXPECT_GT(marked, 300U);
  const std::size_t records = stage.journal().size();
  for (std::size_t at = 5; at <= records; at += records / 7) {
    Stage again(story, stage, at);
    ASSERT_FALSE(HasFailure()) << at;
    again.play();
    ASSERT_EQ(again.ending(), stage.ending()) << at;
    ASSERT_EQ(again.journal(), stage.journal()) << at;
  }
}

TEST(Parts, whoever_looks_at_the_run_sees_all_of_it) {
  const Story story = fan_story(300);
  Stage stage(story);
  while (parts_of(stage) == 0 && stage.play_once()) {
  }
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(stage.play_once());
  ASSERT_GT(parts_of(stage), 0U);
  const auto broker = broker_in(stage.instance().state, stage.graph());
  ASSERT_TRUE(broker);
  EXPECT_FALSE(has_parts(broker->state));
  ASSERT_EQ(broker->state.streams.size(), 1U);
  const std::size_t gathered = broker->state.streams[0].joins[0].members.size();
  std::size_t waiting = 0;
  for (const StepState& step : broker->state.steps)
    waiting += step.queue.size() + step.running.size();
  EXPECT_EQ(gathered + waiting, 300U);
  EXPECT_GE(gathered, 140U);
}

TEST(Parts, a_snapshot_has_them_and_a_world_restored_from_it_goes_on) {
  const Story story = fan_story(500, 11);
  Stage stage(story);
  for (int i = 0; i < 250; ++i) ASSERT_TRUE(stage.play_once());
  ASSERT_GT(parts_of(stage), 0U);
  // Everything moves to blobs, and cells are read from there.
  const auto snapshot = stage.world().snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().to_string();
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 125250");
}

TEST(Parts, a_step_that_is_cancelled_drops_what_waits_beside_the_state) {
  Story story = fan_story(500);
  story.graph = R"(
      split: Start -> A[]
      work*3: A -> B
      sum: B[] -> Stop
      calm: C -> D)";
  story.bodies["work"] = [](const Seen& s, Doing& d) {
    if (s.n == 100) d.cancels("work");
    d.returns("B", s.n);
  };
  story.bodies["calm"] = [](const Seen&, Doing& d) { d.returns("D", 1); };
  Stage stage(story);
  stage.play();
  // Those before it, and whatever ran beside it was dropped.
  EXPECT_THAT(stage.ending(), ::testing::StartsWith("completed "));
  EXPECT_EQ(parts_of(stage), 0U);
  const auto broker = broker_in(stage.instance().state, stage.graph());
  ASSERT_TRUE(broker);
  EXPECT_TRUE(broker->state.streams.empty());
}

TEST(Parts, a_join_of_the_first_many_takes_them_from_beside_the_state) {
  Story story = fan_story(400);
  story.graph = R"(
      split: Start -> A[]
      work*3: A -> B
      sum: B[300] -> Stop)";
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed " + std::to_string(300 * 301 / 2));
}

TEST(Parts, a_part_that_is_damaged_pauses_the_instance_and_nothing_else) {
  WideRun run(600);
  for (int i = 0; i < 10; ++i) run.turn();
  ASSERT_TRUE(run.world().snapshot());  // they are in blobs now
  for (const kernel::StatePart& part : run.cell().parts) run.blobs().lose(part.hash);
  int turns = 0;
  while (!run.cell().paused && ++turns < 200) run.turn();
  EXPECT_TRUE(run.cell().paused);
  const auto record = kernel::read_record(run.last().record);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->notes.front().front(), "step.unreadable");
}

TEST(Parts, a_run_is_too_large_by_what_it_has_in_all) {
  const Story story = fan_story(14'000);
  Stage stage(story);
  stage.play();
  EXPECT_THAT(stage.ending(),
              ::testing::StartsWith("failed steps.state_too_large: what is live in the run, and "
                                    "what it puts out at once, is more than 896 KiB: "));
  EXPECT_THAT(stage.ending(), ::testing::HasSubstr("events for step 'work'"));
}

TEST(Parts, one_more_result_costs_the_same_whether_few_wait_or_many) {
  const auto bytes_of_one = [](std::size_t elements) {
    WideRun run(elements);
    for (std::size_t i = 0; i < elements / 2; ++i) run.turn();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 2 * kPerPart; ++i) {
      run.turn();
      bytes += run.cell().state.size();
    }
    return bytes / (2 * kPerPart);
  };
  // What is written anew with each result: a few names of parts more.
  EXPECT_LT(bytes_of_one(8000), bytes_of_one(1000) * 3 / 2);
  WideRun run(8000);
  run.finish();
  EXPECT_EQ(run.cell().status(), kernel::Status::kCompleted);
}

}  // namespace
}  // namespace holdfast::steps::testing
