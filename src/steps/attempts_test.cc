// SPDX-License-Identifier: Apache-2.0
// What the newest rules have added: an event for one step is for that alone, failed attempts are
// told and kept, a run that timed out names its steps, and changes name types.
#include <gmock/gmock.h>

#include "steps/reasons.h"
#include "steps/testing.h"
#include "steps/testing_stage.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kWaitingGraph[] = R"(
  ask: A -> B
  other: Answer -> B
)";

TEST(Attempts, an_event_for_one_step_wakes_no_other) {
  Table table(kWaitingGraph, 0, Rules::kTellsAttempts);
  table.check(R"(last i1 r1
                 ask waits w Answer for A1 i1)",
              table.add_to("other", "Answer7"),
              R"(last i2 r2
                 ask waits w Answer for A1 i1
                 other running 0 r2 Answer7 i2 t5)",
              R"(run other/0 r2
                 publish running other/0)");
  table.check(R"(last i1 r1
                 ask waits w Answer for A1 i1)",
              table.add_to("ask", "Answer7"),
              R"(last i1 r2
                 ask running 0 r2 A1 i1 t5
                 ask waits w Answer for A1 i1 answered Answer7)",
              R"(run ask/0 r2
                 publish running ask/0)");
}

TEST(Attempts, what_came_early_for_one_step_answers_no_other) {
  Table table("ask: A -> B \n listen: C -> B \n hear: B -> Stop", 0, Rules::kTellsAttempts);
  const auto outcome = table.reduce("last i1 r1 \n ask running 0 r1 A1 i1 t2 \n early B7 to listen",
                                    table.result(1, table.waits("w", "B")));
  EXPECT_THAT(outcome.state, HasSubstr("ask waits w B for A1 i1"));
  EXPECT_THAT(outcome.state, HasSubstr("early B7 to listen"));
  EXPECT_THAT(outcome.state, ::testing::Not(HasSubstr("answered")));
}

TEST(Attempts, each_that_failed_is_told) {
  Table table("work*2: A -> B \n end: B -> Stop", 0, Rules::kTellsAttempts);
  const auto again = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2",
                                  table.result(1, table.fails_and_retries("oops", 10)));
  EXPECT_THAT(again.commands,
              HasSubstr("publish attempt-failed work/0 oops: it did not work attempts 1 elapsed 3 "
                        "next @15\npublish not-running work/0\n"));
  const auto last = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 f2 t2",
                                 table.result(1, table.fails("oops")));
  EXPECT_THAT(last.commands,
              HasSubstr("publish attempt-failed work/0 oops: it did not work attempts 3 elapsed 3\n"
                        "publish not-running work/0\n"
                        "publish failed oops in work attempts 3 elapsed 3\n"));
  const auto lost = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2",
                                 table.result(1, table.is_lost("late")));
  EXPECT_THAT(lost.commands, HasSubstr("publish attempt-failed work/0 late: nobody answered"));
}

TEST(Attempts, a_run_that_timed_out_says_which_steps_were_active) {
  Story story{.graph = "begin: Start -> A \n work*1: A -> Stop",
              .bodies = {{"begin", [](const Seen&, Doing& doing) { doing.returns("A", 1); }},
                         {"work", [](const Seen&, Doing& doing) { doing.waits("w", "A"); }}},
              .timeout_ns = 1000};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(),
            "failed steps.timed_out: the run took longer than it may; waiting: work");
}

// Three attempts: each is told why the one before it failed, and the state knows it meanwhile.
TEST(Attempts, the_next_is_told_how_the_one_before_failed) {
  std::vector<std::string> heard;
  Story story{.graph = "work: Start -> Stop",
              .bodies = {{"work", [&heard](const Seen& seen, Doing& doing) {
                            heard.push_back(seen.last_error);
                            if (seen.failures == 2) return void(doing.returns("Stop", 7));
                            doing.fails("busy", 100);
                          }}}};
  Stage stage(story);
  stage.play();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0], "");
  EXPECT_THAT(heard[1], HasSubstr("busy: "));
  EXPECT_EQ(heard[2], heard[1]);
  EXPECT_EQ(stage.ending(), "completed 7");
  const auto stream = stage.stream();
  EXPECT_EQ(std::count(stream.begin(), stream.end(), "attempt_failed work busy"), 2);
}

TEST(Attempts, why_says_how_the_last_one_failed) {
  Story story{.graph = "work: Start -> Stop",
              .bodies = {{"work", [](const Seen&, Doing& doing) { doing.fails("busy", 1000); }}}};
  Stage stage(story);
  stage.play_once();  // the event
  stage.play_once();  // the body
  const auto reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0].kind, Reason::Kind::kRetry);
  EXPECT_EQ(reasons[1].kind, Reason::Kind::kFailed);
  for (const Reason& reason : reasons) {
    EXPECT_EQ(reason.code, "busy");
    EXPECT_FALSE(reason.message.empty());
  }
  Stage again = reopened(story, stage);
  EXPECT_EQ(again.state_text(), stage.state_text());
}

TEST(Attempts, changes_name_what_goes_in_and_what_comes_out) {
  Story story{.graph = "begin: Start -> A \n work: A -> Stop",
              .bodies = {{"begin", [](const Seen&, Doing& doing) { doing.returns("A", 1); }},
                         {"work", [](const Seen&, Doing& doing) { doing.returns("Stop", 2); }}}};
  Stage stage(story);
  stage.play();
  std::vector<std::string> lines;
  for (const base::Bytes& record : stage.journal()) {
    const auto read = kernel::read_record(record);
    ASSERT_TRUE(read);
    for (const kernel::InstanceView& touched : read->instances) {
      for (const base::ByteView entry : touched.annotations) {
        const codec::View view = codec::View::of(entry);
        std::vector<std::string> types{"-"};
        for (const codec::View type : view.find("types")->elements())
          types.push_back(short_name(*type.text()));
        for (const codec::View change : view.find("changes")->elements())
          lines.push_back(std::string(*change.find("state")->text()) + " " +
                          types.at(*change.find("input")->nat()) + " " +
                          types.at(*change.find("output")->nat()));
      }
    }
  }
  EXPECT_EQ(lines, std::vector<std::string>({"running Start -", "not_running Start A",
                                             "running A -", "not_running A Stop"}));
}

// What its executor tells while a body runs.
TEST(Attempts, pieces_come_out_in_order_and_a_body_that_begins_again_says_so) {
  Story story{.graph = "work: Start -> Stop | Ask",
              .bodies = {{"work", [](const Seen&, Doing& doing) { doing.returns("Stop", 9); }}}};
  Stage stage(story);
  stage.play_once();  // the event
  const base::Hash intent = stage.open().front().intent;
  codec::Buffer two;
  codec::write_list_head(two, 2);
  for (const std::uint64_t n : {1U, 2U}) {
    codec::write_list_head(two, 2);
    codec::write_text(two, full_name("Ask"));
    codec::write_bytes(two, numbered(n));
  }
  const base::Bytes nothing{0xf6};
  stage.tick(kernel::ProgressArrived{intent, 1, "pieces", two.view(), {}});
  stage.tick(kernel::ProgressArrived{intent, 2, "began_again", nothing, {}});
  stage.play();
  EXPECT_EQ(stage.stream(), std::vector<std::string>(
                                {"steps +work", "event work Ask1", "event work Ask2",
                                 "began_again work step.lost", "steps -work", "stopped Stop9"}));
  EXPECT_EQ(stage.ending(), "completed 9");
}

base::Bytes frame_of(const std::vector<std::pair<std::string, base::Bytes>>& pieces) {
  codec::Buffer out;
  codec::write_list_head(out, pieces.size());
  for (const auto& [schema, value] : pieces) {
    codec::write_list_head(out, 2);
    codec::write_text(out, schema);
    codec::write_bytes(out, value);
  }
  return out.to_bytes();
}

// What cannot be read is not lost in silence, and the others come.
TEST(Attempts, a_piece_that_cannot_be_read_is_told) {
  Story story{.graph = "work: Start -> Stop | Ask",
              .bodies = {{"work", [](const Seen&, Doing& doing) { doing.returns("Stop", 9); }}}};
  Stage stage(story);
  stage.play_once();  // the event
  const base::Hash intent = stage.open().front().intent;
  const base::Bytes nothing{0xf6};
  const base::Bytes frame = frame_of({{full_name("Ask"), numbered(1)},
                                      {full_name("Ask"), base::Bytes{0x61, 0xff}},
                                      {"t/Strange@1", numbered(2)},
                                      {full_name("Ask"), numbered(3)}});
  stage.tick(kernel::ProgressArrived{intent, 1, "pieces", frame, {}});
  stage.tick(kernel::ProgressArrived{intent, 2, "pieces", nothing, {}});
  stage.play();
  EXPECT_EQ(stage.stream(), std::vector<std::string>(
                                {"steps +work", "event work Ask1", "unhandled work step.bad_piece",
                                 "unhandled work step.bad_piece", "event work Ask3",
                                 "unhandled work step.bad_piece", "steps -work", "stopped Stop9"}));
}

// A run that is pinned to an earlier graph is performed by today's executor.
TEST(Attempts, graphs_of_earlier_programs_take_pieces_one_by_one_and_as_a_list) {
  for (const Rules rules : {Rules::kFirst, Rules::kKeepsEarly, Rules::kTellsAttempts}) {
    Story story{.graph = "work: Start -> Stop | Ask",
                .bodies = {{"work", [](const Seen&, Doing& doing) { doing.returns("Stop", 9); }}},
                .rules = rules};
    Stage stage(story);
    stage.play_once();  // the event
    const base::Hash intent = stage.open().front().intent;
    codec::Buffer one;
    codec::write_list_head(one, 2);
    codec::write_text(one, full_name("Ask"));
    codec::write_bytes(one, numbered(1));
    const base::Bytes nothing{0xf6};
    const base::Bytes list =
        frame_of({{full_name("Ask"), numbered(2)}, {full_name("Ask"), numbered(3)}});
    stage.tick(kernel::ProgressArrived{intent, 1, "pieces", one.view(), {}});
    stage.tick(kernel::ProgressArrived{intent, 2, "began_again", nothing, {}});
    stage.tick(kernel::ProgressArrived{intent, 3, "pieces", list, {}});
    std::vector<std::string> events;
    for (const std::string& line : stage.stream()) {
      if (line.starts_with("event")) events.push_back(line.substr(line.size() - 4));
    }
    EXPECT_EQ(events, std::vector<std::string>({"Ask1", "Ask2", "Ask3"}));
  }
}

// Whoever reads the pieces sees where they begin anew.
TEST(Attempts, a_body_that_has_published_and_runs_again_says_so_and_why) {
  Table table("work*2: A -> B \n end: B -> Stop", 0, Rules::kTellsRepeats);
  const auto published =
      table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2", Publish{table.event("B7"), 1});
  EXPECT_THAT(published.state, HasSubstr("work running 0 r1 A1 i1 t2 published"));
  const auto conflict = table.reduce(
      "last i1 r1 c2 \n work running 0 r1 A1 i1 t2 published saw1 issued \n "
      "work buffer default c2 A9",
      table.result(1, table.collects("A1")));
  EXPECT_THAT(conflict.commands,
              HasSubstr("run work/0 r2\npublish began-again work step.conflict"));
  EXPECT_THAT(conflict.state, ::testing::Not(HasSubstr("published")));
  const auto silent = table.reduce(
      "last i1 r1 c2 \n work running 0 r1 A1 i1 t2 saw1 issued \n "
      "work buffer default c2 A9",
      table.result(1, table.collects("A1")));
  EXPECT_THAT(silent.commands, ::testing::Not(HasSubstr("began-again")));
  const auto failed = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2 published",
                                   table.result(1, table.fails_and_retries("oops", 10)));
  EXPECT_THAT(failed.state, ::testing::Not(HasSubstr("published")));
  const auto lost =
      table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2 published", BeganAgain{1});
  EXPECT_THAT(lost.commands, HasSubstr("publish began-again work step.lost"));
  EXPECT_THAT(lost.state, ::testing::Not(HasSubstr("published")));

  Table waits(kWaitingGraph, 0, Rules::kTellsRepeats);
  const auto waiting = waits.reduce("last i1 r1 \n ask running 0 r1 A1 i1 t2 published",
                                    waits.result(1, waits.waits("w", "Answer")));
  EXPECT_THAT(waiting.commands, ::testing::Not(HasSubstr("began-again")));
  const auto answered = waits.reduce(waiting.state, waits.add_to("ask", "Answer7"));
  EXPECT_THAT(answered.commands,
              HasSubstr("publish running ask/0\npublish began-again ask step.waited"));
  EXPECT_THAT(answered.state, HasSubstr("ask running 0 r2 A1 i1 t5\n"));
}

// "Given up" is told from "tried again".
TEST(Attempts, a_failed_one_has_a_time_if_and_only_if_it_is_tried_again) {
  Table table("work*2: A -> B \n end: B -> Stop", 0, Rules::kTellsRepeats);
  const auto at_once = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2",
                                    table.result(1, table.fails_and_retries("oops", 0)));
  EXPECT_THAT(at_once.commands, HasSubstr("attempts 1 elapsed 3 next @5\n"));
  const auto never = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2",
                                  table.result(1, table.fails("oops")));
  EXPECT_THAT(never.commands, HasSubstr("attempts 1 elapsed 3\npublish not-running"));
  // Without a verdict nobody knows.
  const auto lost = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2",
                                 table.result(1, table.is_lost("late")));
  EXPECT_THAT(lost.commands, ::testing::Not(HasSubstr("attempt-failed")));
  EXPECT_THAT(lost.state, HasSubstr("judging:late"));
  const auto judged =
      table.reduce("last i1 r2 \n work running 0 r2 A1 i1 f1 t2 issued judging:late",
                   table.result(2, table.fails_and_retries("late", 10)));
  EXPECT_THAT(judged.commands, HasSubstr("publish attempt-failed work/0 late: "));
  EXPECT_THAT(judged.commands, HasSubstr("attempts 1 elapsed 3 next @15\n"));
  const auto given_up =
      table.reduce("last i1 r2 \n work running 0 r2 A1 i1 f1 t2 issued judging:late",
                   table.result(2, table.fails("late")));
  EXPECT_THAT(given_up.commands, HasSubstr("attempts 1 elapsed 3\npublish not-running"));
}

// Later ones would come to other records.
TEST(Attempts, graphs_of_earlier_programs_say_nothing_of_it) {
  Story story{.graph = "work: Start -> Stop",
              .bodies = {{"work",
                          [](const Seen& seen, Doing& doing) {
                            EXPECT_EQ(seen.last_error, "");
                            if (seen.failures == 1) return void(doing.returns("Stop", 7));
                            doing.fails("busy", 100);
                          }}},
              .rules = Rules::kKeepsEarly};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 7");
  EXPECT_THAT(stage.stream(), ::testing::Not(Contains(HasSubstr("attempt_failed"))));
}

}  // namespace
}  // namespace holdfast::steps::testing
