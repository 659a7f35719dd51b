// SPDX-License-Identifier: Apache-2.0
#include "sim/change_run.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace holdfast::sim {
namespace {

TEST(ChangeRun, definitions_change_while_everything_goes_on_and_nothing_is_lost) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Report report = run_changes({.seed = seed});
    ASSERT_EQ(report.violation(), "") << "sim --change " << seed;
    for (const auto& [what, times] : report.counts()) counts[what] += times;
  }
  for (const char* what :
       {"a key begins again", "an ended instance is returned", "definitions are blocked",
        "instances are pinned", "an instance moves to another version",
        "an instance does not fit the new version", "an instance begins again as it was",
        "an image does not fit any more", "a restart with replay", "a restart without replay",
        "the same definitions again"})
    EXPECT_GT(counts[what], 0u) << what;
}

TEST(ChangeRun, a_seed_leaves_one_trace) {
  EXPECT_EQ(run_changes({.seed = 5}).trace(), run_changes({.seed = 5}).trace());
  EXPECT_NE(run_changes({.seed = 5}).trace(), run_changes({.seed = 6}).trace());
}

}  // namespace
}  // namespace holdfast::sim
