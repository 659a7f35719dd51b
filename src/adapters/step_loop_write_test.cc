// SPDX-License-Identifier: Apache-2.0
// A run that was written, and a new log behind it: read and restored it is the run that nobody has
// disturbed, wherever it was written.
#include <gtest/gtest.h>

#include "adapters/testing_written.h"
#include "steps/testing_stories.h"

namespace holdfast::adapters::testing {
namespace {

using namespace steps::testing;

// The same without the log: bodies that ran run again.
std::string run_on(const Story& story, const StepProgram& program, const Taken& taken,
                   std::size_t from) {
  StoryAdapter outside(story);
  const Taken::Turn& turn = taken.turns[from];
  const auto input = recorded_input(turn.input);
  outside.now_ns = static_cast<std::uint64_t>(input->at.time_since_epoch().count());
  // What comes next from outside has been received, and is not journaled.
  outside.sent = turn.sent - (input->message.kind == StepInput::Kind::kEvent ? 1U : 0U);
  StepLoop loop(program, outside);
  if (!loop.read(turn.before)) return "it cannot be read";
  if (!loop.run()) return "it is refused";
  return ending_of(loop);
}

// Each of a fan-out adds one to the same number.
Story counting_story() {
  Story story;
  story.graph = "begin: Start -> A[]\nadd*3: A -> B\njoin: B[] -> Stop";
  story.bodies["begin"] = [](const Seen&, Doing& doing) { doing.returns_list("A", {1, 2, 3}); };
  story.bodies["add"] = [](const Seen& seen, Doing& doing) {
    const auto found = seen.store.find("n");
    doing.stores("n", found == seen.store.end() ? 1 : found->second + 1, true);
    doing.returns("B", seen.n);
  };
  story.bodies["join"] = [](const Seen& seen, Doing& doing) {
    doing.returns("Stop", seen.store.at("n"));
  };
  return story;
}

// Each of a fan-out looks whether it is the last.
Story collecting_story() {
  Story story;
  story.graph = "begin: Start -> A[]\nboth*3: A -> Stop";
  story.bodies["begin"] = [](const Seen&, Doing& doing) { doing.returns_list("A", {1, 2, 3}); };
  story.bodies["both"] = [](const Seen& seen, Doing& doing) {
    const auto found = seen.buffers.find("default");
    if (found == seen.buffers.end() || found->second.size() < 2)
      return doing.collects("A", seen.n), void(doing.returns_nothing());
    doing.empties();
    doing.returns("Stop", 10);
  };
  return story;
}

class Written : public ::testing::TestWithParam<Story (*)()> {};

TEST_P(Written, after_any_input_a_run_goes_on_as_if_nobody_had_written_it) {
  const Story story = GetParam()();
  const StepProgram program = program_of(story);
  const Taken taken = take(story, program);
  ASSERT_TRUE(taken.ending.starts_with("completed")) << taken.ending;
  ASSERT_GT(taken.turns.size(), 3U);
  for (std::size_t from = 0; from < taken.turns.size(); ++from) {
    EXPECT_EQ(go_on(story, program, taken, from), "");
    EXPECT_EQ(run_on(story, program, taken, from), taken.ending) << from;
  }
}

TEST_P(Written, one_that_has_ended_is_read_with_its_outcome) {
  const Story story = GetParam()();
  const StepProgram program = program_of(story);
  const Taken taken = take(story, program);
  StoryAdapter outside(story);
  StepLoop loop(program, outside);
  ASSERT_TRUE(loop.read(taken.end));
  EXPECT_EQ(ending_of(loop), taken.ending);
  const auto status = loop.run();
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, StepLoop::Status::kEnded);
  EXPECT_TRUE(outside.lines.empty());
  EXPECT_EQ(loop.write(), taken.end);
}

INSTANTIATE_TEST_SUITE_P(Steps, Written,
                         ::testing::Values(&line_story, &approval_story, &retry_story, &map_story,
                                           &pairs_story, &counting_story, &collecting_story));

TEST(WrittenRun, how_a_run_failed_is_read_with_it) {
  const Story story{.graph = "begin: Start -> Stop",
                    .bodies = {{"begin", [](const Seen&, Doing& d) { d.fails("oops"); }}}};
  const StepProgram program = program_of(story);
  const Taken taken = take(story, program);
  ASSERT_TRUE(taken.ending.starts_with("failed oops")) << taken.ending;
  StoryAdapter outside(story);
  StepLoop loop(program, outside);
  ASSERT_TRUE(loop.read(taken.end));
  EXPECT_EQ(ending_of(loop), taken.ending);
}

TEST(WrittenRun, one_that_nothing_has_begun_is_new_when_it_is_read) {
  const Story story = approval_story();
  const StepProgram program = program_of(story);
  StoryAdapter outside(story);
  StepLoop loop(program, outside);
  StepLoop other(program, outside);
  ASSERT_TRUE(other.read(loop.write()));
  StepMessage answer;
  answer.schema = full_name("Answer");
  answer.value = numbered(1);
  ASSERT_TRUE(other.replay(answer.view(Time(Duration(1))), true));
  EXPECT_EQ(outside.lines, std::vector<std::string>{"unhandled Answer1"});
}

}  // namespace
}  // namespace holdfast::adapters::testing
