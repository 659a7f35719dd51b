// SPDX-License-Identifier: Apache-2.0
// What went wrong in the system that this one is modelled on, each once; here it does not.
#include <gtest/gtest.h>

#include <algorithm>

#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

using Lines = std::vector<std::string>;

// A step that waits for an answer, with a body that each test writes.
Story waiting_story(Body ask) {
  return {.graph = "ask: Start -> Stop | Ask \n hear: Answer",
          .bodies = {{"ask", std::move(ask)},
                     {"hear", [](const Seen&, Doing& d) { d.returns_nothing(); }}}};
}

// 1. Follow-ups lived in memory only until their own tick was journalled.
TEST(KnownDefects, a_follow_up_is_there_in_the_record_of_the_result) {
  const Story story = line_story();
  Stage stage(story);
  stage.play_once();  // the event
  stage.play_once();  // the first body; its result makes A
  Stage after = reopened(story, stage);
  ASSERT_EQ(after.open().size(), 1U);
  after.play();
  EXPECT_EQ(after.ending(), "completed 4");
  EXPECT_EQ(after.performed, Lines({"work A2", "end B3"}));
}

// 2. What a restart did to running work was not journalled; the second restart did not find it.
TEST(KnownDefects, any_number_of_restarts_in_a_row_finds_what_was_running) {
  const Story story = pairs_story();
  Stage first(story);
  first.play_once();
  first.play_once();
  ASSERT_EQ(first.open().size(), 4U);
  Stage second = reopened(story, first);
  Stage third = reopened(story, second);
  third.play_once();
  Stage fourth = reopened(story, third);
  fourth.play();
  EXPECT_EQ(fourth.ending(), "completed 1234");
}

// 3. Mail that was there already did not count: busy runs were parked.
TEST(KnownDefects, a_run_is_idle_only_when_nothing_is_on_its_way) {
  const Story story = waiting_story([](const Seen&, Doing& d) { d.waits("w", "Ask"); });
  Stage stage(story);
  stage.play();
  ASSERT_EQ(stage.ending(), "idle");
  const base::Bytes key = Stage::key();
  stage.tick(kernel::ControlRequested{kernel::Control::kPause, kWorkflow, key, "wait"});
  for (std::uint64_t n = 1; n <= 3; ++n) stage.send("Stop", n);
  stage.tick(kernel::ControlRequested{kernel::Control::kResume, kWorkflow, key, "go on"});
  const Lines lines = stage.stream();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "idle"), 2);  // before the pause, and at last
}

// 4. An answered wait matched again: the second answer came twice.
TEST(KnownDefects, two_waits_for_one_type_get_two_answers_and_one_start_each) {
  const Story story = approval_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 45");
  EXPECT_EQ(std::count(stage.performed.begin(), stage.performed.end(), "ask Start1"), 3);
}

// 5. After a restore a wait had lost its requirements, and took anything.
TEST(KnownDefects, a_wait_keeps_what_it_asked_for_over_restarts) {
  Story story = waiting_story([](const Seen& s, Doing& d) {
    if (!s.waits.contains("w")) return void(d.waits_for("w", "Answer", 2));
    d.returns("Stop", *s.waits.at("w"));
  });
  story.events = {{"Start", 1}};
  Stage stage(story);
  stage.play();
  Stage after = reopened(story, stage);
  after.send("Answer", 1);
  after.play();
  EXPECT_EQ(after.ending(), "idle");
  Stage again = reopened(story, after);
  again.send("Answer", 2);
  again.play();
  EXPECT_EQ(again.ending(), "completed 2");
}

// 6. Timers of waits died with the process, and the timeout of a run began anew.
TEST(KnownDefects, deadlines_are_what_they_were_over_restarts) {
  Story story = waiting_story([](const Seen& s, Doing& d) {
    if (!s.waits.contains("w")) return void(d.waits("w", "Ask", 1'000));
    d.returns("Stop", s.waits.at("w") ? 1 : 2);
  });
  Stage stage(story);
  stage.play_once();
  stage.play_once();
  const std::uint64_t began = stage.now_ns();
  Stage after = reopened(story, stage);
  after.play();
  EXPECT_EQ(after.ending(), "completed 2");
  EXPECT_LE(after.now_ns(), began + 1'010);

  story.bodies["ask"] = [](const Seen&, Doing& d) { d.waits("w", "Ask"); };
  story.timeout_ns = 5'000;
  Stage slow(story);
  slow.play_once();
  slow.play_once();
  Stage later = reopened(story, slow);
  later.send("Stop", 1);
  Stage latest = reopened(story, later);
  latest.play();
  EXPECT_TRUE(
      latest.ending().starts_with("failed steps.timed_out: the run took longer than it may"))
      << latest.ending();
  EXPECT_LE(latest.now_ns(), 5'020U);
}

// 7. A step that ended in an unusual way left the run hanging.
TEST(KnownDefects, an_effect_that_comes_to_no_result_is_a_failure) {
  Story story = line_story();
  story.bodies["work"] = [](const Seen&, Doing& d) { d.is_lost(); };
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "failed effect.timeout: it took too long");
  EXPECT_EQ(stage.performed, Lines({"begin Start1", "work A2", "work?A2"}));
}

// 8. A run that was out of date still passed on what it had returned.
TEST(KnownDefects, what_a_run_that_is_out_of_date_did_is_dropped) {
  const Story story = pairs_story();
  Stage stage(story);
  stage.play();
  const Lines lines = stage.stream();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.starts_with("event A"); }),
            2);
  EXPECT_GT(stage.performed.size(), 8U);  // some ran again
}

// 9. State and stream were written one after the other, and the last entry could be missing.
TEST(KnownDefects, the_record_that_ends_a_run_has_its_last_entry) {
  const Story story = line_story();
  Stage stage(story);
  stage.play();
  const auto record = kernel::read_record(stage.journal().back());
  ASSERT_TRUE(record);
  ASSERT_EQ(record->instances.size(), 1U);
  EXPECT_EQ(record->instances[0].status, "completed");
  EXPECT_FALSE(record->instances[0].annotations.empty());
  EXPECT_EQ(stage.stream().back(), "stopped Stop4");
}

// 10. Every tick copied the state, and the history grew with the run. bench/instructions counts.
TEST(KnownDefects, a_run_of_ten_thousand_events_keeps_its_size) {
  Story story = {.graph = "loop: Start | A -> A | Stop",
                 .bodies = {{"loop", [](const Seen& s, Doing& d) {
                               d.stores("count", s.n, true);
                               if (s.n == 10'000) return void(d.returns("Stop", s.n));
                               d.returns("A", s.n + 1);
                             }}}};
  Stage stage(story);
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::size_t i = 0; i < 10'000 && stage.play_once(); ++i) {
    if (i == 1'000) early = stage.instance().state.size();
    if (i == 9'900) late = stage.instance().state.size();
  }
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 10000");
  EXPECT_LE(late, early + 10);  // numbers that have more digits
}

// The model drops an answer that comes while the body runs again for the one before.
TEST(KnownDefects, an_answer_that_comes_before_its_wait_is_not_lost) {
  const Story story = impatient_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 456");
}

TEST(KnownDefects, a_run_that_fans_out_in_a_loop_keeps_its_size) {
  const Story story = {.graph = "loop: Start | A -> A[] | Stop",
                       .bodies = {{"loop", [](const Seen& s, Doing& d) {
                                     if (s.n == 500) return void(d.returns("Stop", s.n));
                                     d.returns_list("A", {s.n + 1});
                                   }}}};
  Stage stage(story);
  for (int i = 0; i < 400; ++i) stage.play_once();
  EXPECT_LT(stage.instance().state.size(), 150U);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 500");
}

}  // namespace
}  // namespace holdfast::steps::testing
