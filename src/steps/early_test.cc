// SPDX-License-Identifier: Apache-2.0
#include "steps/testing.h"
#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kEarlyGraph[] = R"(
  begin: Start -> A | Ask
  work*1: A -> B | Stop
)";

class EarlyTest : public ::testing::Test {
 protected:
  Table table_{std::string(kEarlyGraph) + "hear: Answer -> A", 0, Rules::kKeepsEarly};
};

constexpr char kBusy[] = R"(last i1 r1
                            work running 0 r1 A1 i1 t3)";

TEST_F(EarlyTest, what_nobody_takes_is_kept_while_the_run_is_busy) {
  table_.check(kBusy, table_.add("B1"),
               R"(last i1 r1
                  work running 0 r1 A1 i1 t3
                  early B1)",
               "");
  table_.check(R"(last i1 r1
                  work running 0 r1 A1 i1 t3
                  early B1)",
               table_.add_to("begin", "B2"),
               R"(last i1 r1
                  work running 0 r1 A1 i1 t3
                  early B1
                  early B2 to begin)",
               "");
}

TEST_F(EarlyTest, a_question_that_nobody_inside_takes_is_not_kept) {
  table_.check_ignored(kBusy, table_.add("Ask1"));
}

TEST_F(EarlyTest, what_a_step_takes_is_not_kept) {
  table_.check("last", table_.add("A1"),
               R"(last i1 r1
                  work running 0 r1 A1 i1 t5)",
               R"(run work/0 r1
                  publish running work/0)");
}

TEST_F(EarlyTest, a_wait_that_begins_gets_the_oldest_that_answers_it) {
  table_.check(R"(last i1 r1
                  work running 0 r1 A1 i1 t3
                  early Stop1
                  early B{"n":1}
                  early B{"n":2}
                  early B{"m":3,"n":2})",
               table_.result(1, table_.where("n", "2", table_.waits("w", "B"))),
               R"(last i1 r2
                  work running 0 r2 A1 i1 t5
                  work waits w B for A1 i1 t3 where n=2 answered B{"n":2}
                  early Stop1
                  early B{"n":1}
                  early B{"m":3,"n":2})",
               R"(publish not-running work/0
                  run work/0 r2
                  publish running work/0)");
}

// Its question goes out as that of any wait, and there is nothing to be in time for.
TEST_F(EarlyTest, a_wait_that_is_answered_at_once_asks_and_has_no_deadline) {
  table_.check(R"(last i1 r1
                  work running 0 r1 A1 i1 t3
                  early B1)",
               table_.result(1, table_.asks("Ask7", table_.waits("w", "B", 40))),
               R"(last i1 r2
                  work running 0 r2 A1 i1 t5
                  work waits w B for A1 i1 t3 answered B1)",
               R"(publish not-running work/0
                  publish event Ask7
                  run work/0 r2
                  publish running work/0)");
}

TEST_F(EarlyTest, whoever_is_in_the_queue_comes_before_one_that_is_answered_at_once) {
  table_.check(R"(last i2 r1
                  work running 0 r1 A1 i1 t3
                  work queued A2 i2
                  early B1)",
               table_.result(1, table_.waits("w", "B")),
               R"(last i2 r2
                  work running 0 r2 A2 i2 t5
                  work queued A1 i1
                  work waits w B for A1 i1 t3 answered B1)",
               R"(publish not-running work/0
                  run work/0 r2
                  publish running work/0
                  publish preparing work)");
}

TEST_F(EarlyTest, a_wait_for_something_else_leaves_it_there) {
  table_.check(R"(last i2 r2
                  begin running 0 r2 Start1 i2 t3
                  work running 0 r1 A1 i1 t3
                  early B1)",
               table_.result(1, table_.waits("w", "Answer", 40)),
               R"(last i2 r2
                  begin running 0 r2 Start1 i2 t3
                  work waits w Answer for A1 i1 t3 until 45
                  early B1)",
               R"(publish not-running work/0
                  schedule timeout of work i1 w @45)");
}

TEST_F(EarlyTest, when_the_run_is_idle_they_are_told_in_order) {
  table_.check(R"(last i1 r1
                  work waits w Stop for A1 i1
                  early B1
                  early B2 to begin)",
               TellEarly{},
               R"(last i1 r1
                  work waits w Stop for A1 i1)",
               R"(publish unhandled B1 idle
                  publish unhandled B2 to begin idle)");
  table_.check_ignored(R"(last i1 r1
                          work running 0 r1 A1 i1 t3
                          early B1)",
                       TellEarly{});
  table_.check_ignored(R"(last i1 r1
                          work queued A1 i1 f1 t3 @90
                          early B1)",
                       TellEarly{});
}

// It goes on when its time is over, and may wait for the next thing then.
TEST_F(EarlyTest, a_wait_that_ends_by_itself_keeps_them) {
  constexpr char kWaiting[] = R"(last i1 r1
                                 work waits w Stop for A1 i1 until 45
                                 early B1)";
  table_.check_ignored(kWaiting, TellEarly{});
  table_.check(kWaiting, table_.add("B2"),
               R"(last i1 r1
                  work waits w Stop for A1 i1 until 45
                  early B1
                  early B2)",
               "schedule idle-check");
}

TEST_F(EarlyTest, an_end_comes_behind_them) {
  constexpr char kBefore[] = R"(last i1 r1
                                work running 0 r1 A1 i1 t3
                                early B1)";
  table_.check(kBefore, table_.result(1, table_.returns("Stop4")), "last i1 r1 \n not running",
               R"(publish not-running work/0
                  publish unhandled B1 idle
                  publish stopped Stop4
                  complete Stop4)");
  EXPECT_EQ(table_.reduce(kBefore, table_.result(1, table_.fails("oops"))).commands,
            trimmed(R"(publish not-running work/0
                       publish unhandled B1 idle
                       publish failed oops in work attempts 1 elapsed 2
                       fail oops)"));
  EXPECT_EQ(table_.reduce(kBefore, Timeout{}).commands, trimmed(R"(publish unhandled B1
                                                                   publish timed-out after 0 work
                                                                   halt timed-out)"));
  EXPECT_EQ(table_.reduce(kBefore, CancelRun{"why"}).commands, trimmed(R"(publish unhandled B1
                                                                          publish cancelled: why
                                                                          halt cancelled: why)"));
}

TEST_F(EarlyTest, more_than_so_many_are_told_at_once) {
  std::string state = std::string(kBusy) + "\n";
  for (int i = 0; i < 256; ++i) state += "early B" + std::to_string(i) + "\n";
  table_.check(state, table_.add("B256"), state, "publish unhandled B256");
  state = std::string(kBusy) + "\n";
  for (int i = 0; i < 2; ++i) state += "early B\"" + std::string(32'000, 'x') + "\"\n";
  table_.check(state, table_.add("B\"" + std::string(2'200, 'y') + "\""), state,
               "publish unhandled B\"" + std::string(2'200, 'y') + "\"");
}

// What became of runs of earlier programs comes of them again.
TEST_F(EarlyTest, a_graph_of_an_earlier_program_keeps_nothing) {
  Table earlier(kEarlyGraph);
  earlier.check(kBusy, earlier.add("B1"), kBusy, "publish unhandled B1");
}

TEST(Early, answers_that_come_before_the_waits_are_taken_in_order_and_what_is_left_is_told) {
  const Story story = impatient_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 456");
  const std::vector<std::string> lines = stage.stream();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "unhandled Answer7"), 1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "idle"), 0);
}

// The same events under the rule of before: nobody hears of them.
TEST(Early, without_it_they_were_lost) {
  Story story = impatient_story();
  story.rules = Rules::kFirst;
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "idle");
}

// Pieces of one record: what a body sends may be for a wait of a step that its return value starts.
TEST(Early, what_is_sent_is_kept_for_what_the_same_record_starts) {
  const Story story = {
      .graph = "begin: Start -> A | B \n work: A -> Stop",
      .bodies = {{"begin", [](const Seen&, Doing& d) { d.sends("B", 7).returns("A", 1); }},
                 {"work", [](const Seen& s, Doing& d) {
                    if (!s.waits.contains("w")) return void(d.waits("w", "B"));
                    d.returns("Stop", *s.waits.at("w"));
                  }}}};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 7");
}

}  // namespace
}  // namespace holdfast::steps::testing
