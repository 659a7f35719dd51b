// SPDX-License-Identifier: Apache-2.0
// What a run of a step workflow has done, counted from the documents of its records. Here, as only
// this folder writes those.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/record_document.h"
#include "steps/draw.h"
#include "steps/execution.h"
#include "steps/testing_stories.h"

namespace holdfast::node {
namespace {

using namespace steps;
using steps::testing::Doing;
using steps::testing::Seen;
using steps::testing::Stage;
using steps::testing::Story;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

Execution execution_of(Stage& stage, std::size_t skipped = 0, bool keeps_progress = true) {
  ExecutionReader reader(stage.graph(), std::string(steps::testing::kWorkflow), Stage::key());
  PieceCounts pieces;
  for (const base::Bytes& bytes : stage.journal()) {
    codec::Buffer document;
    write_document(document, *kernel::read_record(bytes));
    pieces.take(codec::View::of(document.view()));
  }
  reader.add(pieces);
  std::vector<codec::Buffer> kept;
  for (std::size_t i = skipped; i < stage.journal().size(); ++i) {
    const auto record = kernel::read_record(stage.journal()[i]);
    EXPECT_TRUE(record);
    codec::Buffer document;
    write_document(document, *record);
    if (!keeps_progress && PieceCounts().take(codec::View::of(document.view()))) continue;
    reader.add(codec::View::of(document.view()));
  }
  const kernel::InstanceValues values = stage.instance();
  return std::move(reader).finish(values.state, kernel::name_of(values.status));
}

// "step: ran 2, completed 1, ..." of each step that ran, and "step -> A 2" of each way.
Lines lines_of(const Graph& graph, const Execution& execution) {
  Lines lines;
  for (StepIndex i = 0; i < graph.steps().size(); ++i) {
    const StepTally& tally = execution.steps[i];
    if (tally.runs == 0) continue;
    std::string line = graph.step(i).name + ": ran " + std::to_string(tally.runs);
    const auto say = [&](const char* word, std::uint64_t count) {
      if (count != 0) line += std::string(", ") + word + " " + std::to_string(count);
    };
    say("completed", tally.completed);
    say("failed", tally.failed);
    say("given up", tally.given_up);
    say("waits", tally.waits);
    say("ignored", tally.ignored);
    say("running", tally.running);
    say("queued", tally.queued);
    say("delayed", tally.delayed);
    say("waiting", tally.waiting.size());
    if (!tally.last_code.empty()) line += ", " + tally.last_code;
    lines.push_back(line);
  }
  const auto name = [&](TypeIndex type) {
    const std::string& schema = graph.type(type).schema;
    return steps::testing::short_name(schema);
  };
  for (const auto& [type, count] : execution.came)
    lines.push_back("came " + name(type) + " " + std::to_string(count));
  const auto add = [&](const char* word, const Execution::ByStepAndType& ways) {
    for (const auto& [way, count] : ways)
      lines.push_back(graph.step(way.first).name + " " + word + " " + name(way.second) + " " +
                      std::to_string(count));
  };
  add("took", execution.taken);
  add("heard", execution.answered);
  add("returned", execution.returned);
  add("sent", execution.sent);
  add("put", execution.put);
  for (const auto& [way, count] : execution.handled)
    lines.push_back(graph.step(way.second).name + " handled " + graph.step(way.first).name + " " +
                    std::to_string(count));
  return lines;
}

struct Case {
  const char* name;
  Story story;
  std::size_t bodies;  // that are performed; 0: all
  Lines expected;
};

TEST(StepsExecution, counts_what_a_run_has_done) {
  const Case cases[] = {
      {"a line",
       steps::testing::line_story(),
       0,
       {"begin: ran 1, completed 1", "end: ran 1, completed 1", "work: ran 1, completed 1",
        "came Start 1", "begin took Start 1", "end took B 1", "work took A 1", "begin returned A 1",
        "end returned Stop 1", "work returned B 1"}},
      {"a line that is under way",
       steps::testing::line_story(),
       1,
       {"begin: ran 1, completed 1", "work: ran 1, running 1", "came Start 1", "begin took Start 1",
        "work took A 1", "begin returned A 1"}},
      {"two questions: what was put before them counts once",
       steps::testing::approval_story(),
       0,
       // The second answer is taken by `note` too, which the end overtakes.
       {"ask: ran 3, completed 1, waits 2", "note: ran 2, completed 1", "came Start 1",
        "came Answer 2", "ask took Start 1", "note took Answer 2", "ask heard Answer 2",
        "ask returned Stop 1", "ask put Ask 2", "ask put B 1"}},
      {"a question that is open",
       steps::testing::approval_story(),
       1,
       {"ask: ran 1, waits 1, waiting 1", "came Start 1", "ask took Start 1", "ask put Ask 1",
        "ask put B 1"}},
      {"a retry that is due later",
       steps::testing::retry_story(),
       1,
       {"flaky: ran 1, failed 1, queued 1, delayed 1, oops", "came Start 1", "flaky took Start 1"}},
      {"retries, judges and a handler",
       steps::testing::retry_story(),
       0,
       {"end: ran 1, completed 1", "flaky: ran 3, completed 1, failed 2, oops",
        "never: ran 2, failed 2, given up 1, judged", "rescue: ran 1, completed 1", "came Start 1",
        "end took C 1", "flaky took Start 1", "never took A 1", "rescue took StepFailed 1",
        "end returned Stop 1", "flaky returned A 1", "rescue returned C 1",
        "rescue handled never 1"}},
      {"workers that race each other: what has to run again counts once",
       steps::testing::pairs_story(),
       0,
       {"begin: ran 1, completed 1", "count: ran 2, completed 2",
        "pair: ran 10, completed 4, ignored 6", "came Start 1", "begin took Start 1",
        "count took B 2", "pair took A 4", "count returned Stop 1", "pair returned B 2",
        "begin sent A 4", "pair put A 2"}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    Stage stage(each.story);
    while ((each.bodies == 0 || stage.performed.size() < each.bodies) && stage.play_once()) {
    }
    const Execution execution = execution_of(stage);
    EXPECT_EQ(lines_of(stage.graph(), execution), each.expected);
    std::uint64_t runs = 0;
    for (const StepTally& tally : execution.steps) runs += tally.runs - tally.running;
    // The second `note` of the approval is asked for, and the end overtakes it.
    const auto performed = static_cast<std::uint64_t>(std::ranges::count_if(
        stage.performed,
        [](const std::string& body) { return body.find('?') == std::string::npos; }));
    EXPECT_EQ(runs,
              performed + (execution.has_ended() ? stage.graph().step_named("note") ? 1 : 0 : 0));
    EXPECT_TRUE(execution.is_whole);
    EXPECT_EQ(execution.first_record, 2U);
    EXPECT_EQ(execution.last_record, stage.journal().size());
    EXPECT_EQ(execution.has_ended(), each.bodies == 0);
  }
}

// Records that only tell of pieces need not be kept.
TEST(StepsExecution, pieces_that_a_body_publishes_are_counted) {
  const Story story{.graph = "work: Start -> Stop | A",
                    .bodies = {{"work", [](const Seen&, Doing& d) { d.returns("Stop", 9); }}}};
  Stage stage(story);
  stage.play_once();  // the event
  const base::Hash intent = stage.open().front().intent;
  codec::Buffer two;
  codec::write_list_head(two, 2);
  for (const std::uint64_t n : {1U, 2U}) {
    codec::write_list_head(two, 2);
    codec::write_text(two, steps::testing::full_name("A"));
    codec::write_bytes(two, steps::testing::numbered(n));
  }
  const base::Bytes nothing{0xf6};
  stage.tick(kernel::ProgressArrived{intent, 1, "pieces", two.view(), {}});
  stage.tick(kernel::ProgressArrived{intent, 2, "began_again", nothing, {}});
  stage.tick(kernel::ProgressArrived{intent, 3, "pieces", two.view(), {}});
  stage.play();
  for (const bool keeps_progress : {true, false}) {
    const Execution execution = execution_of(stage, 0, keeps_progress);
    EXPECT_EQ(lines_of(stage.graph(), execution),
              Lines({"work: ran 1, completed 1", "came Start 1", "work took Start 1",
                     "work returned Stop 1", "work put A 4"}));
    EXPECT_TRUE(execution.is_whole);
    EXPECT_THAT(draw_mermaid(picture_of(stage.graph(), execution)), HasSubstr("t/A@1<br/>×4"));
  }
}

TEST(StepsExecution, results_of_a_step_that_was_cancelled_count_for_nothing) {
  const auto given_up = [](const Seen&, Doing& d) { d.cancels("slow").returns_nothing(); };
  const auto untold = [](const Seen&, Doing& d) { d.cancels_untold("slow").returns_nothing(); };
  for (const steps::testing::Body& stops : {steps::testing::Body(given_up), {untold}}) {
    const Story story{
        .graph = "begin: Start -> A \n slow: A -> B \n stop: Answer -> Stop \n use: B -> Stop",
        .bodies = {{"begin", [](const Seen& s, Doing& d) { d.returns("A", s.n); }},
                   {"stop", stops}}};
    Stage stage(story);
    while (stage.performed.empty() && stage.play_once()) {
    }
    const auto slow = stage.open().back();
    stage.send("Answer", 1);
    const auto stop = stage.open().back();
    stage.perform(stop);
    stage.answer(slow.intent, Doing().returns("B", 1));
    EXPECT_EQ(
        lines_of(stage.graph(), execution_of(stage)),
        Lines({"begin: ran 1, completed 1", "slow: ran 1, ignored 1", "stop: ran 1, completed 1",
               "came Start 1", "came Answer 1", "begin took Start 1", "slow took A 1",
               "stop took Answer 1", "begin returned A 1"}));
  }
}

TEST(StepsExecution, says_that_its_beginning_is_not_there) {
  const Story story = steps::testing::line_story();
  Stage stage(story);
  stage.play();
  const Execution execution = execution_of(stage, 3);
  EXPECT_FALSE(execution.is_whole);
  EXPECT_EQ(execution.first_record, 4U);
  const Picture picture = picture_of(stage.graph(), execution);
  EXPECT_THAT(picture.title, ::testing::Contains(HasSubstr("not here any more")));
}

TEST(StepsExecution, is_drawn_into_the_graph) {
  const Story story = steps::testing::approval_story();
  Stage stage(story);
  while (stage.performed.empty() && stage.play_once()) {
  }
  EXPECT_EQ(draw_mermaid(picture_of(stage.graph(), execution_of(stage))), R"(flowchart TD
  %% running, records 2 to 3
  e0(["t/Start@1<br/>×1"]):::done
  e1(["t/Stop@1"]):::unused
  e2("t/Ask@1<br/>×1"):::done
  e3("t/Answer@1"):::unused
  e4("t/B@1<br/>×1"):::done
  outside{{"outside"}}:::done
  s0["ask<br/>ran ×1<br/>waits for t/Answer@1"]:::waiting
  s1["note"]:::unused
  e2 -->|×1| outside
  outside --> e3
  e0 -->|×1| s0
  s0 --> e1
  s0 -->|×1| e2
  e3 --> s1
  s1 --> e4
  s0 -->|puts ×1| e4
  classDef unused fill:#f7f7f7,stroke:#b0b0b0
  classDef done fill:#d8f0dc,stroke:#2e7d46
  classDef waiting fill:#fdf1c7,stroke:#a97a00
)");
  EXPECT_THAT(draw_dot(picture_of(stage.graph(), execution_of(stage))),
              HasSubstr(R"(s0 [label="ask\nran ×1\nwaits for t/Answer@1", shape=box, )"
                        R"(style=filled, fillcolor="#fdf1c7", color="#a97a00"];)"));
}

}  // namespace
}  // namespace holdfast::node
