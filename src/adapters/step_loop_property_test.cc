// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adapters/testing_random_story.h"
#include "adapters/testing_story.h"
#include "adapters/testing_written.h"

namespace holdfast::adapters::testing {
namespace {

RC_GTEST_PROP(StepLoop, does_what_the_machine_of_a_world_does, (std::uint64_t seed)) {
  const Story story = RandomStory(seed).make();
  steps::testing::Stage stage(story);
  stage.play();
  StoryAdapter adapter(story);
  const StepProgram program = program_of(story);
  StepLoop loop(program, adapter);
  RC_ASSERT(loop.run());
  RC_CLASSIFY(stage.has_ended(), "ended");
  RC_CLASSIFY(stage.ending().starts_with("completed"), "completed");
  RC_CLASSIFY(stage.journal().size() > 20, "more than 20 records");
  RC_ASSERT(flat(adapter.lines) == flat(stage.stream()));
  if (stage.has_ended()) RC_ASSERT(ending_of(loop) == stage.ending());
  RC_ASSERT(stage.has_ended() == loop.outcome().has_value());
}

RC_GTEST_PROP(StepLoop, begun_anew_does_what_a_new_one_does, (std::uint64_t seed)) {
  const Story story = RandomStory(seed).make();
  const StepProgram program = program_of(story);
  StoryAdapter first(story);
  StepLoop loop(program, first);
  RC_ASSERT(loop.run());
  const bool has_ended = loop.outcome().has_value();
  StoryAdapter second(story);
  loop.begin_anew(second);
  RC_ASSERT(loop.run());
  RC_ASSERT(second.lines == first.lines);
  RC_ASSERT(loop.outcome().has_value() == has_ended);
}

RC_GTEST_PROP(StepLoop, replays_what_it_recorded, (std::uint64_t seed)) {
  const Story story = RandomStory(seed).make();
  StoryAdapter outside(story);
  Recorder recorder(outside);
  const StepProgram program = program_of(story);
  StepLoop loop(program, recorder);
  RC_ASSERT(loop.run());
  const auto replayed = replay(program, recorder.recording());
  RC_ASSERT(replayed);
}

RC_GTEST_PROP(StepLoop, written_anywhere_and_read_it_goes_on_with_its_log, (std::uint64_t seed)) {
  const Story story = RandomStory(seed).make();
  const StepProgram program = program_of(story);
  const Taken taken = take(story, program);
  for (std::size_t from = 0; from < taken.turns.size(); ++from)
    RC_ASSERT(go_on(story, program, taken, from) == "");
}

}  // namespace
}  // namespace holdfast::adapters::testing
