// SPDX-License-Identifier: Apache-2.0
// Crash anywhere: the engine ends after any record, and after any record again; a world that is
// opened from what was written comes to the same end, with the same stream.
#include <gtest/gtest.h>

#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

class Crash : public ::testing::TestWithParam<Story (*)()> {};

TEST_P(Crash, anywhere_once_and_twice_changes_nothing) {
  const Story story = GetParam()();
  Stage undisturbed(story);
  undisturbed.play();
  ASSERT_TRUE(undisturbed.has_ended()) << undisturbed.ending();
  const std::size_t records = undisturbed.journal().size();
  const auto expect_same = [&](Stage& stage, const std::string& when) {
    stage.play();
    ASSERT_EQ(stage.ending(), undisturbed.ending()) << when;
    ASSERT_EQ(stage.stream(), undisturbed.stream()) << when;
    ASSERT_EQ(stage.journal(), undisturbed.journal()) << when;
  };
  // The first two are the definitions, and the first event.
  for (std::size_t first = 2; first <= records; ++first) {
    Stage stage(story, undisturbed, first);
    expect_same(stage, "after " + std::to_string(first));
    for (std::size_t second = first; second <= records; ++second) {
      Stage once(story, undisturbed, first);
      while (once.journal().size() < second && once.play_once()) {
      }
      Stage twice(story, once, once.journal().size());
      expect_same(twice, "after " + std::to_string(first) + " and " + std::to_string(second));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, Crash,
                         ::testing::Values(&line_story, &approval_story, &retry_story, &map_story,
                                           &pairs_story, &family_story, &slots_story,
                                           &impatient_story));

}  // namespace
}  // namespace holdfast::steps::testing
