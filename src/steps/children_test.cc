// SPDX-License-Identifier: Apache-2.0
// Steps that run instances of other workflows, and wait for their ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Starts with a number below 10 run one child, c, with ten times that; what that does is the
// test's.
class Children : public ::testing::Test {
 protected:
  Story story(const Body& parent, const Body& child) {
    return {
        .graph = R"(
              begin: Start -> A | B
              parent*100: A -> Stop
              child: B -> Stop
              note: Answer -> C
              later: C -> Stop)",
        .bodies = {{"begin", [](const Seen& s, Doing& d) { d.returns(s.n < 10 ? "A" : "B", s.n); }},
                   {"parent", parent},
                   {"child", child},
                   {"note", [](const Seen&, Doing& d) { d.returns_nothing(); }},
                   {"later", [](const Seen&, Doing& d) { d.returns_nothing(); }}},
        .runs_others = true,
        .key_of = [](std::uint64_t n) { return n < 100 ? std::string(kKey) : "c"; }};
  }
  static void run_one(const Seen& s, Doing& d) {
    const auto end = s.ends.find("1");
    if (end != s.ends.end()) return void(d.returns("Stop", end->second == "completed 7" ? 7 : 0));
    d.runs("1", "c", s.n * 10);
  }
  static kernel::Status status_of(Stage& stage, std::string_view key) {
    codec::Buffer name;
    codec::write_text(name, key);
    const auto cell = stage.world().find(kWorkflow, name.view());
    EXPECT_TRUE(cell && *cell != nullptr);
    return cell && *cell != nullptr ? (*cell)->status() : kernel::Status::kRunning;
  }
};

TEST_F(Children, the_body_goes_on_with_the_result) {
  const Story told = story(run_one, [](const Seen&, Doing& d) { d.returns("Stop", 7); });
  Stage stage(told);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 7");
  EXPECT_EQ(status_of(stage, "c"), kernel::Status::kCompleted);
  EXPECT_EQ(stage.world().open_intents(), 0U);
}

TEST_F(Children, how_a_child_failed_is_told) {
  std::vector<std::string> seen;
  const Story told = story(
      [&](const Seen& s, Doing& d) {
        for (const auto& [id, end] : s.ends) seen.push_back(end);
        run_one(s, d);
      },
      [](const Seen&, Doing& d) { d.fails("card.declined"); });
  Stage stage(told);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 0");
  EXPECT_THAT(seen, ::testing::ElementsAre("failed card.declined"));
}

TEST_F(Children, a_child_that_is_cancelled_wakes_the_body) {
  std::vector<std::string> seen;
  const Story told = story(
      [&](const Seen& s, Doing& d) {
        for (const auto& [id, end] : s.ends) seen.push_back(end);
        run_one(s, d);
      },
      [](const Seen&, Doing& d) { d.waits("1", "Answer"); });
  Stage stage(told);
  stage.play();
  codec::Buffer key;
  codec::write_text(key, "c");
  stage.tick(kernel::ControlRequested{kernel::Control::kCancel, kWorkflow, key.view(), "enough"});
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 0");
  EXPECT_THAT(seen, ::testing::ElementsAre("cancelled workflow.cancelled"));
}

TEST_F(Children, a_key_that_is_taken_is_told) {
  std::vector<std::string> seen;
  const Story told = story(
      [&](const Seen& s, Doing& d) {
        for (const auto& [id, end] : s.ends) seen.push_back(end);
        if (s.ends.empty()) return void(d.runs("1", kKey, 10));
        d.returns("Stop", 1);
      },
      [](const Seen&, Doing& d) { d.returns("Stop", 7); });
  Stage stage(told);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 1");
  EXPECT_THAT(seen, ::testing::ElementsAre("failed workflow.key_taken"));
}

TEST_F(Children, a_wait_that_times_out_cancels_the_child) {
  const Story told = story(
      [](const Seen& s, Doing& d) {
        if (s.waits.contains("1")) return void(d.waits("2", "Answer"));
        d.runs("1", "c", 10, 1'000);
      },
      [](const Seen&, Doing& d) { d.waits("1", "Answer"); });
  Stage stage(told);
  stage.play();
  EXPECT_EQ(stage.ending(), "idle") << "it waits for something else now";
  EXPECT_EQ(status_of(stage, "c"), kernel::Status::kCancelled);
  EXPECT_THAT(stage.state_text(), HasSubstr("timed-out w"));
  EXPECT_EQ(stage.world().open_intents(), 0U);
}

TEST_F(Children, a_step_that_is_cancelled_gives_up_its_children) {
  Story told = story(run_one, [](const Seen&, Doing& d) { d.waits("1", "Answer"); });
  told.bodies["note"] = [](const Seen&, Doing& d) { d.cancels("parent").returns_nothing(); };
  told.key_of = [](std::uint64_t) { return std::string(kKey); };
  told.events = {{"Start", 1}, {"Answer", 1}};
  Stage stage(told);
  stage.play();
  EXPECT_EQ(status_of(stage, "c"), kernel::Status::kCancelled);
  EXPECT_EQ(stage.world().open_intents(), 0U);
  EXPECT_EQ(stage.ending(), "idle");
}

TEST_F(Children, children_end_with_the_run) {
  Story told = story(run_one, [](const Seen&, Doing& d) { d.waits("1", "Answer"); });
  told.timeout_ns = 1'000'000;
  Stage stage(told);
  stage.play();
  EXPECT_THAT(stage.ending(), HasSubstr("failed steps.timed_out"));
  const kernel::Status status = status_of(stage, "c");
  EXPECT_TRUE(status == kernel::Status::kCancelled || status == kernel::Status::kFailed);
  EXPECT_EQ(stage.world().open_intents(), 0U);
}

TEST_F(Children, what_is_not_among_the_children_is_not_run) {
  const Story told = story(
      [](const Seen& s, Doing& d) {
        if (s.is_judging) return void(d.fails("judged"));
        d.runs("1", "c", 10, 0, "t/Other@1");
      },
      [](const Seen&, Doing& d) { d.returns("Stop", 7); });
  Stage stage(told);
  stage.play();
  EXPECT_THAT(stage.ending(), HasSubstr("failed steps.bad_result"));
  EXPECT_THAT(stage.ending(), HasSubstr("t/Other@1"));
}

// More than a step of the kernel may open.
TEST_F(Children, many_at_a_time_all_come_back) {
  const Story told{
      .graph = R"(
        begin: Start -> A[] | B
        each*300: A -> C
        sum: C[] -> Stop
        child: B -> Stop)",
      .bodies = {{"begin",
                  [](const Seen& s, Doing& d) {
                    if (s.n >= 10) return void(d.returns("B", s.n));
                    std::vector<std::uint64_t> all(300);
                    std::iota(all.begin(), all.end(), 1000);
                    d.returns_list("A", all);
                  }},
                 {"each",
                  [](const Seen& s, Doing& d) {
                    if (s.ends.empty()) return void(d.runs("1", "c" + std::to_string(s.n), s.n));
                    d.returns("C", s.ends.at("1") == "completed 1" ? 1 : 0);
                  }},
                 {"sum", [](const Seen& s, Doing& d) { d.returns("Stop", sum_of(s.numbers)); }},
                 {"child", [](const Seen&, Doing& d) { d.returns("Stop", 1); }}},
      .runs_others = true};
  Stage stage(told);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 300");
  EXPECT_EQ(stage.world().active_instances(), 0U);
}

TEST_F(Children, a_graph_with_children_is_another_graph) {
  const Story told = story(run_one, run_one);
  Story without = told;
  without.runs_others = false;
  EXPECT_NE(world_graph(told).digest(), world_graph(without).digest());
}

}  // namespace
}  // namespace holdfast::steps::testing
