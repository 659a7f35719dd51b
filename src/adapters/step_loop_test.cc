// SPDX-License-Identifier: Apache-2.0
// The loop beside the machine of a world, its journal, and its recordings.
#include "holdfast/step_loop.h"

#include <gtest/gtest.h>

#include "adapters/testing_story.h"
#include "steps/testing_stories.h"

namespace holdfast::adapters::testing {
namespace {

using namespace steps::testing;

class Loop : public ::testing::TestWithParam<Story (*)()> {
 protected:
  Loop() : story_(GetParam()()), program_(program_of(story_)) {}

  const Story story_;
  const StepProgram program_;
};

TEST_P(Loop, comes_to_the_same_end_as_a_world_with_the_same_stream) {
  Stage stage(story_);
  stage.play();
  StoryAdapter adapter(story_);
  StepLoop loop(program_, adapter);
  const auto status = loop.run();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, StepLoop::Status::kEnded);
  EXPECT_EQ(ending_of(loop), stage.ending());
  EXPECT_EQ(flat(adapter.lines), flat(stage.stream()));
}

TEST_P(Loop, a_crash_anywhere_loses_nothing_that_was_journaled) {
  std::vector<Bytes> log;
  const auto append = [&log](const Bytes& record) -> Result<Done> {
    log.push_back(record);
    return Done{};
  };
  StoryAdapter undisturbed(story_);
  {
    Journaled adapter(undisturbed, append);
    StepLoop loop(program_, adapter);
    ASSERT_TRUE(loop.run());
    ASSERT_TRUE(loop.outcome());
  }
  const std::vector<Bytes> whole = log;
  for (std::size_t crash = 1; crash <= whole.size(); ++crash) {
    log.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(crash));
    StoryAdapter outside(story_);
    for (const Bytes& record : log) {
      const auto input = recorded_input(record);
      ASSERT_TRUE(input);
      outside.sent += input->message.kind == StepInput::Kind::kEvent ? 1U : 0U;
      outside.now_ns = static_cast<std::uint64_t>(input->at.time_since_epoch().count());
    }
    Journaled adapter(outside, append);
    StepLoop loop(program_, adapter);
    const auto restored = restore(loop, std::vector<Bytes>(log));
    ASSERT_TRUE(restored) << restored.error().message;
    ASSERT_TRUE(loop.run());
    EXPECT_EQ(ending_of(loop).substr(0, 9), "completed") << crash;
    // What is published after the crash is the end of what would have been.
    ASSERT_LE(outside.lines.size(), undisturbed.lines.size());
    const auto from = undisturbed.lines.end() - static_cast<std::ptrdiff_t>(outside.lines.size());
    EXPECT_EQ(outside.lines, std::vector<std::string>(from, undisturbed.lines.end())) << crash;
    EXPECT_EQ(log.size(), whole.size());
  }
}

TEST_P(Loop, a_recording_is_replayed_and_a_change_is_found) {
  StoryAdapter outside(story_);
  Recorder recorder(outside);
  StepLoop loop(program_, recorder);
  ASSERT_TRUE(loop.run());
  StepRecording recording = recorder.recording();
  const auto replayed = replay(program_, recording);
  ASSERT_TRUE(replayed) << replayed.error().message;
  std::size_t entries = 0;
  for (std::size_t at = 0; at < recording.turns.size(); ++at) {
    if (recording.turns[at].entries.empty()) continue;
    ++entries;
    StepRecording changed = recording;
    changed.turns[at].entries.back().kind += "?";
    const auto refused = replay(program_, changed);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_TRUE(refused.error().message.starts_with("turn " + std::to_string(at) + " "));
  }
  EXPECT_GT(entries, 2U);
}

TEST_P(Loop, leaving_memory_whenever_it_is_idle_changes_nothing) {
  StoryAdapter undisturbed(story_);
  StepLoop whole(program_, undisturbed);
  ASSERT_TRUE(whole.run());
  StoryAdapter outside(story_);
  Bytes left;
  std::string ending = "open";
  for (int round = 0; ending == "open" && round < 20; ++round) {
    IdleRelease adapter(outside, Duration(0));
    StepLoop loop(program_, adapter);
    if (!left.empty()) {
      ASSERT_TRUE(loop.read(left));
    }
    const auto status = loop.run();
    ASSERT_TRUE(status);
    ending = ending_of(loop);
    if (*status != StepLoop::Status::kReleased) continue;
    left = loop.write();
    // The outside goes on meanwhile.
    ASSERT_EQ(outside.wait_for_next({loop.next_due(), true}), StepNext::kLook);
  }
  EXPECT_EQ(ending, ending_of(whole));
  EXPECT_EQ(flat(outside.lines), flat(undisturbed.lines));
}

INSTANTIATE_TEST_SUITE_P(Steps, Loop,
                         ::testing::Values(&line_story, &approval_story, &retry_story, &map_story,
                                           &pairs_story));

class Refusals : public ::testing::Test {
 protected:
  const Story story_ = line_story();
  const StepProgram program_ = program_of(story_);
  StoryAdapter outside_{story_};
};

TEST_F(Refusals, what_ran_when_a_run_was_written_runs_again) {
  for (std::uint64_t bodies = 0; bodies < 3; ++bodies) {
    StoryAdapter outside(story_);
    StepLoop before(program_, outside);
    ASSERT_TRUE(before.run(bodies));
    ASSERT_TRUE(before.has_more());
    StepLoop after(program_, outside);
    ASSERT_TRUE(after.read(before.write()));
    ASSERT_TRUE(after.run());
    EXPECT_EQ(ending_of(after), "completed 4") << bodies;
  }
}

TEST_F(Refusals, what_runs_again_is_told_the_time_at_which_it_does) {
  std::vector<std::uint64_t> told;
  Story story = line_story();
  story.bodies["work"] = [&told](const Seen& seen, Doing& doing) {
    told.push_back(seen.now_ns);
    doing.returns("B", seen.n + 1);
  };
  const StepProgram program = program_of(story);
  StoryAdapter outside(story);
  StepLoop before(program, outside);
  ASSERT_TRUE(before.run(1));
  outside.now_ns = 1'000;
  StepLoop after(program, outside);
  ASSERT_TRUE(after.read(before.write()));
  ASSERT_TRUE(after.run());
  EXPECT_EQ(told, std::vector<std::uint64_t>{1'000});
}

TEST_F(Refusals, a_run_of_a_world_that_waits_for_another_workflow_hears_that_there_is_none) {
  const Story story{.graph = "begin: Start -> Stop",
                    .bodies = {{"begin",
                                [](const Seen& s, Doing& d) {
                                  const auto end = s.ends.find("child");
                                  if (end == s.ends.end()) return void(d.runs("child", "c1", 10));
                                  EXPECT_EQ(end->second.substr(0, 24), "failed workflow.no_world");
                                  d.returns("Stop", 7);
                                }}},
                    .runs_others = true};
  Stage stage(story);
  while (stage.performed.empty() && stage.play_once()) {
  }
  const base::Bytes state = stage.instance().state;
  const auto bytes = codec::View::of(state).find("broker")->bytes();
  ASSERT_TRUE(bytes);
  StoryAdapter outside(story);
  outside.sent = story.events.size();
  const StepProgram program = program_of(story);
  StepLoop loop(program, outside);
  ASSERT_TRUE(loop.read(Bytes(bytes->begin(), bytes->end())));
  ASSERT_TRUE(loop.run());
  EXPECT_EQ(ending_of(loop), "completed 7");
  EXPECT_EQ(flat(outside.lines).front(), "+begin");
}

TEST_F(Refusals, what_cannot_be_journaled_has_not_happened_and_is_there_the_next_time) {
  std::size_t refusals = 0;
  std::size_t published = 0;  // when it was refused
  std::vector<Bytes> log;
  Journaled adapter(outside_, [&](const Bytes& record) -> Result<Done> {
    published = outside_.lines.size();
    if (++refusals % 2 == 1) return Error{ErrorCode::kIo, "the disk is full"};
    log.push_back(record);
    return Done{};
  });
  StepLoop loop(program_, adapter);
  std::size_t failed = 0;
  while (!loop.outcome()) {
    if (loop.run()) continue;
    EXPECT_EQ(outside_.lines.size(), published);
    ASSERT_LT(++failed, 100U);
  }
  EXPECT_EQ(ending_of(loop), "completed 4");
  EXPECT_EQ(failed, log.size());
  EXPECT_EQ(outside_.sent, 1U);
}

TEST_F(Refusals, an_event_that_is_not_the_workflows_is_named) {
  StepLoop loop(program_, outside_);
  StepMessage message;
  message.schema = "t/Other@1";
  auto refused = loop.replay(message.view({}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(refused.error().message, "t/Flow@1: it has no event 't/Other@1'");
  message.schema = "t/Start@1";
  message.value = {0xff};
  refused = loop.replay(message.view({}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

TEST_F(Refusals, bytes_that_are_no_run_are_refused) {
  StepLoop loop(program_, outside_);
  ASSERT_TRUE(loop.run(1));
  const Bytes good = loop.write();
  for (std::size_t size = 0; size < good.size(); ++size) {
    StepLoop other(program_, outside_);
    const auto refused =
        other.read(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(recorded_input({0x80}));
  EXPECT_FALSE(recorded_input({}));
}

}  // namespace
}  // namespace holdfast::adapters::testing
