// SPDX-License-Identifier: Apache-2.0
// Whole runs that tell a good implementation from one that only looks so (SENTENCES.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

std::size_t count_of(const Lines& lines, const std::string& line) {
  return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), line));
}

// One step that fails as often as it is told to, and waits so long in between.
Story flaky_story(std::uint64_t failures, std::uint64_t delay_ns) {
  return {.graph = "flaky: Start -> Stop", .bodies = {{"flaky", [=](const Seen& s, Doing& d) {
                                                         if (s.failures < failures) {
                                                           d.fails("oops", delay_ns);
                                                         } else {
                                                           d.returns("Stop", s.failures);
                                                         }
                                                       }}}};
}

TEST(Telling, ten_events_at_one_slot_wait_and_keep_their_order) {
  const Story story = {.graph = "begin: Start -> A \n work*1: A -> Stop",
                       .bodies = {{"begin",
                                   [](const Seen&, Doing& d) {
                                     for (std::uint64_t n = 1; n <= 10; ++n) d.sends("A", n);
                                     d.returns_nothing();
                                   }},
                                  {"work", [](const Seen& s, Doing& d) {
                                     if (s.n == 10) return void(d.returns("Stop", 10));
                                     d.returns_nothing();
                                   }}}};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 10");
  EXPECT_EQ(stage.performed,
            Lines({"begin Start1", "work A1", "work A2", "work A3", "work A4", "work A5", "work A6",
                   "work A7", "work A8", "work A9", "work A10"}));
  const Lines lines = stage.stream();
  EXPECT_EQ(lines.at(1),
            "steps -begin +work ~work ~work ~work ~work ~work ~work ~work ~work ~work");
}

TEST(Telling, failures_are_counted_the_delay_is_kept_and_the_first_time_stays) {
  std::vector<std::uint64_t> failures;
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> now;
  Story story = flaky_story(3, 200);
  const Body body = story.bodies["flaky"];
  story.bodies["flaky"] = [&](const Seen& s, Doing& d) {
    failures.push_back(s.failures);
    first.push_back(s.first_ns);
    now.push_back(s.now_ns);
    body(s, d);
  };
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 3");
  EXPECT_THAT(failures, ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(now.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first[i], first[0]);
    EXPECT_GE(now[i], i == 0 ? 0 : now[i - 1] + 200);
  }
}

TEST(Telling, two_retries_that_are_due_at_one_instant_both_run) {
  const Story story = {
      .graph = "begin: Start -> A \n work*2: A -> B \n end*1: B -> Stop",
      .bodies = {
          {"begin", [](const Seen&, Doing& d) { d.sends("A", 1).sends("A", 2).returns_nothing(); }},
          {"work",
           [](const Seen& s, Doing& d) {
             // Results come one time unit after another.
             if (s.failures == 0) return void(d.fails("oops", 101 - s.n));
             d.returns("B", s.n);
           }},
          {"end", [](const Seen& s, Doing& d) {
             if (!s.store.contains("one")) return void(d.stores("one", s.n).returns_nothing());
             d.returns("Stop", s.store.at("one") * 10 + s.n);
           }}}};
  Stage stage(story);
  for (int i = 0; i < 4; ++i) stage.play_once();
  const std::string waiting = stage.state_text();
  const std::size_t at = waiting.find(" @");
  ASSERT_NE(at, waiting.npos) << waiting;
  const std::string due = waiting.substr(at, waiting.find('\n', at) - at);
  EXPECT_NE(waiting.find(due, at + 1), waiting.npos) << waiting;  // both have it
  stage.play();
  EXPECT_EQ(count_of(stage.performed, "work A1"), 2U);
  EXPECT_EQ(count_of(stage.performed, "work A2"), 2U);
  EXPECT_TRUE(stage.has_ended());
}

TEST(Telling, opened_inside_a_delay_it_goes_on_once_after_what_is_left_of_it) {
  const Story story = flaky_story(1, 1'000'000);
  Stage stage(story);
  stage.play_once();
  stage.play_once();
  const std::uint64_t failed_ns = stage.now_ns();
  Stage one = reopened(story, stage);
  Stage other = reopened(story, stage);
  EXPECT_EQ(one.state_text(), other.state_text());
  one.set_clock(failed_ns + 600'000);
  one.play();
  EXPECT_EQ(one.performed, Lines{"flaky Start1"});
  EXPECT_EQ(one.ending(), "completed 1");
  EXPECT_GE(one.now_ns(), failed_ns + 1'000'000);
  EXPECT_LE(one.now_ns(), failed_ns + 1'000'010);
  // Too late already: at once.
  other.set_clock(failed_ns + 5'000'000);
  other.play();
  EXPECT_EQ(other.performed, Lines{"flaky Start1"});
  EXPECT_LE(other.now_ns(), failed_ns + 5'000'010);
}

TEST(Telling, a_policy_that_has_changed_does_not_change_the_past) {
  const Story story = flaky_story(1, 500);
  Stage stage(story);
  stage.play_once();
  stage.play_once();
  // Now it would never be tried again, and would have another delay.
  const Story changed = flaky_story(9, 7);
  Stage after(changed, stage, stage.journal().size());
  EXPECT_EQ(after.state_text(), stage.state_text());
}

TEST(Telling, a_step_that_takes_and_awaits_a_type_runs_exactly_twice) {
  Story story = {.graph = "ask: Start | Answer -> Stop",
                 .bodies = {{"ask", [](const Seen& s, Doing& d) {
                               if (!s.waits.contains("w")) return void(d.waits("w", "Answer"));
                               d.returns("Stop", *s.waits.at("w"));
                             }}}};
  story.events = {{"Start", 1}, {"Answer", 7}};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 7");
  EXPECT_EQ(stage.performed, Lines({"ask Start1", "ask Start1"}));
}

TEST(Telling, nothing_is_put_out_behind_a_stop) {
  const Story story = {.graph = "fast: Start -> Stop \n slow: Start -> A \n end: A -> Stop",
                       .bodies = {}};
  Stage stage(story);
  stage.send("Start", 1);
  ASSERT_EQ(stage.open().size(), 2U);
  const auto fast = stage.open()[0];
  const auto slow = stage.open()[1];
  Doing stops;
  stops.returns("Stop", 7);
  stage.answer(fast.intent, stops);
  ASSERT_EQ(stage.ending(), "completed 7");
  const Lines before = stage.stream();
  EXPECT_EQ(before.back(), "stopped Stop7");
  codec::Buffer frame;
  codec::write_list_head(frame, 2);
  codec::write_text(frame, "t/A@1");
  codec::write_bytes(frame, numbered(7));
  stage.tick(kernel::ProgressArrived{slow.intent, 1, "entry", frame.view()});
  Doing late;
  late.streams("A", 1).returns("A", 1);
  stage.answer(slow.intent, late);
  EXPECT_EQ(stage.stream(), before);
  EXPECT_EQ(stage.ending(), "completed 7");
}

TEST(Telling, cancelled_at_a_question_it_stays_so_and_nothing_ran_twice) {
  Story story = approval_story();
  story.events = {{"Start", 1}};
  Stage stage(story);
  stage.play();
  ASSERT_EQ(stage.ending(), "idle");
  const base::Bytes key = Stage::key();
  stage.tick(kernel::ControlRequested{kernel::Control::kCancel, kWorkflow, key, "enough"});
  EXPECT_EQ(stage.instance().status, kernel::Status::kCancelled);
  Stage after = reopened(story, stage);
  after.play();
  EXPECT_EQ(after.instance().status, kernel::Status::kCancelled);
  EXPECT_EQ(after.performed, Lines());
  EXPECT_EQ(stage.performed, Lines{"ask Start1"});
}

TEST(Telling, restarted_three_times_while_it_waits_it_takes_its_answers) {
  Story story = approval_story();
  story.events = {{"Start", 1}};
  story.bodies["ask"] = [](const Seen& s, Doing& d) {
    for (const char* const wait : {"1", "2"}) {
      if (!s.waits.contains(wait)) return void(d.waits(wait, "Answer"));
    }
    d.returns("Stop", *s.waits.at("1") * 10 + *s.waits.at("2"));
  };
  Stage stage(story);
  stage.play();
  Stage first = reopened(story, stage);
  Stage second = reopened(story, first);
  Stage third = reopened(story, second);
  EXPECT_EQ(third.ending(), "idle");
  third.play();
  EXPECT_EQ(third.performed, Lines());
  // Several at once, before any of them is dealt with.
  const base::Bytes key = Stage::key();
  third.tick(kernel::ControlRequested{kernel::Control::kPause, kWorkflow, key, "wait"});
  third.send("Answer", 4);
  third.send("Answer", 5);
  third.send("Answer", 6);
  third.tick(kernel::ControlRequested{kernel::Control::kResume, kWorkflow, key, "go on"});
  third.play();
  // The second wait was not there yet when they came: it waits on, and nothing is lost or doubled.
  EXPECT_EQ(third.ending(), "idle");
  EXPECT_EQ(count_of(third.performed, "note Answer4"), 1U);
  EXPECT_EQ(count_of(third.performed, "note Answer5"), 1U);
  EXPECT_EQ(count_of(third.performed, "note Answer6"), 1U);
  third.send("Answer", 8);
  third.play();
  EXPECT_EQ(third.ending(), "completed 48");
}

TEST(Telling, a_run_that_had_ended_has_the_same_end_when_it_is_opened) {
  const Story story = line_story();
  Stage stage(story);
  stage.play();
  Stage after = reopened(story, stage);
  after.play();
  EXPECT_EQ(after.ending(), stage.ending());
  EXPECT_EQ(after.stream(), stage.stream());
  EXPECT_EQ(after.performed, Lines());
}

TEST(Telling, racing_collectors_of_pairs_give_each_pair_once) {
  const Story story = pairs_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 1234");
}

}  // namespace
}  // namespace holdfast::steps::testing
