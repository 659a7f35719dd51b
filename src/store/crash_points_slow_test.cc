// SPDX-License-Identifier: Apache-2.0
// Every way in which a power cut may leave the disk, at every point of recorded runs.
// HOLDFAST_CRASH_IMAGES says how many disks to look at.
#include <cstdlib>
#include <iostream>

#include "store/testing_crash.h"

namespace holdfast::store::testing {
namespace {

std::uint64_t wanted_images() {
  const char* const given = std::getenv("HOLDFAST_CRASH_IMAGES");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 6000;
}

TEST(CrashPoints, acknowledged_records_survive_every_power_cut) {
  const std::uint64_t wanted = wanted_images();
  Sightings seen;
  std::uint64_t seed = 0;
  std::uint64_t points = 0;
  for (; seen.images < wanted; ++seed) {
    CrashWorkload workload(seed);
    workload.run(60);
    if (HasFatalFailure()) return;
    points += workload.operations().size() + 1;
    std::uint64_t of_this_run = 0;
    env::for_each_crash(workload.operations(), [&](const env::Crash&) { ++of_this_run; });
    // Short runs look at a part of each recorded run, evenly, so that there are several.
    const std::uint64_t every = std::max<std::uint64_t>(1, of_this_run * 4 / wanted);
    std::uint64_t turn = seed;
    env::for_each_crash(workload.operations(), [&](const env::Crash& crash) {
      if (turn++ % every == 0 && !HasFailure()) workload.check(crash, seen);
    });
    ASSERT_FALSE(HasFailure());
  }
  std::cout << "crash points: " << points << " of " << seed << " runs, " << seen.images
            << " disks; " << seen.torn << " torn, " << seen.copied << " copied forward, "
            << seen.clean << " clean, " << seen.trimmed << " trimmed; " << seen.in_recovery
            << " more were cut again during recovery\n";
  EXPECT_GT(seen.torn, 0u);
  EXPECT_GT(seen.copied, 0u);
  EXPECT_GT(seen.clean, 0u);
  EXPECT_GT(seen.trimmed, 0u);
  EXPECT_GT(seen.in_recovery, 0u);
}

}  // namespace
}  // namespace holdfast::store::testing
