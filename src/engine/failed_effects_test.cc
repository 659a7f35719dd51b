// SPDX-License-Identifier: Apache-2.0
#include "engine/failed_effects.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::engine {
namespace {

node::FailedEffect failure(std::string workflow, std::string code) {
  node::FailedEffect failed;
  failed.workflow = std::move(workflow);
  failed.status = "error";
  failed.code = std::move(code);
  return failed;
}

TEST(FailedEffects, codes_beyond_the_bound_are_counted_together_for_their_workflow) {
  FailedEffects counts;
  for (int i = 0; i < 1500; ++i) counts.add(failure("a/Noisy@1", "code-" + std::to_string(i)));
  counts.add(failure("a/Quiet@1", "late"));
  std::vector<FailedCount> all;
  counts.put(all);
  EXPECT_EQ(all.size(), 1002u);
  const auto other = [&](std::string_view workflow) -> std::uint64_t {
    for (const FailedCount& each : all) {
      if (each.workflow == workflow && each.status == "error" && each.code == "other")
        return each.count;
    }
    return 0;
  };
  EXPECT_EQ(other("a/Noisy@1"), 500u);
  EXPECT_EQ(other("a/Quiet@1"), 1u);
}

TEST(FailedEffects, workflows_without_bound_are_counted_together_in_the_end) {
  FailedEffects counts;
  for (int i = 0; i < 3000; ++i) counts.add(failure("w/" + std::to_string(i), "x"));
  std::vector<FailedCount> all;
  counts.put(all);
  EXPECT_LE(all.size(), 2001u);
}

}  // namespace
}  // namespace holdfast::engine
