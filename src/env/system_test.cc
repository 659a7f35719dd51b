// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "env/clock.h"
#include "env/descriptor_limit.h"
#include "env/process.h"
#include "env/random.h"
#include "env/system_error.h"

namespace holdfast::env {
namespace {

TEST(Clock, time_since_boot_does_not_go_back) {
  const auto clock = posix_clock();
  std::int64_t before = clock->since_boot_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = clock->since_boot_ns();
    ASSERT_GE(now, before);
    before = now;
  }
  EXPECT_GT(clock->wall_ns(), std::int64_t{1'600'000'000} * 1'000'000'000);
}

TEST(DescriptorLimit, soft_limit_is_raised_to_the_hard_one_at_most_and_never_lowered) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(before.rlim_max, 200);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(descriptor_limit(), low.rlim_cur);
  const std::uint64_t most = std::min<std::uint64_t>(before.rlim_max, 300);
  EXPECT_EQ(raise_descriptor_limit(300), most);
  EXPECT_EQ(raise_descriptor_limit(100), most);
  EXPECT_EQ(descriptor_limit(), most);
  EXPECT_LE(raise_descriptor_limit(UINT64_MAX), before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(SystemError, want_of_descriptors_is_told_from_a_full_disk) {
  for (const int number : {EMFILE, ENFILE}) {
    const base::Error error = system_error("a/b", "open", number);
    EXPECT_EQ(error.code(), base::ErrorCode::kUnavailable);
    EXPECT_TRUE(error.lacks_descriptors());
  }
  EXPECT_FALSE(system_error("a/b", "pwrite", ENOSPC).lacks_descriptors());
  EXPECT_TRUE(system_error("b", "open", EMFILE).within("a").lacks_descriptors());
}

TEST(Clock, manual_clock_moves_when_it_is_moved) {
  ManualClock clock;
  clock.advance_ns(5);
  EXPECT_EQ(clock.since_boot_ns(), 5);
  clock.set_wall_ns(3);
  EXPECT_EQ(clock.wall_ns(), 3);
  EXPECT_EQ(clock.since_boot_ns(), 5) << "a jump of the wall clock is no time";
}

TEST(Random, system_does_not_repeat_itself) {
  const auto random = posix_random();
  EXPECT_NE(random->next_u64(), random->next_u64());
  std::array<std::uint8_t, 1000> bytes{};
  random->fill(bytes);
  EXPECT_NE(bytes, (std::array<std::uint8_t, 1000>{}));
}

TEST(Random, seed_gives_the_same_bytes) {
  EXPECT_EQ(seeded_random(1)->next_u64(), seeded_random(1)->next_u64());
  EXPECT_NE(seeded_random(1)->next_u64(), seeded_random(2)->next_u64());
}

TEST(Process, is_described_for_people) {
  const auto process = posix_process();
  EXPECT_EQ(process->id(), ::getpid());
  EXPECT_EQ(describe(*process).find("process " + std::to_string(::getpid()) + " on host "), 0u);
}

}  // namespace
}  // namespace holdfast::env
