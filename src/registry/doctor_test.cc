// SPDX-License-Identifier: Apache-2.0
#include "registry/doctor.h"

#include "registry/testing.h"

namespace holdfast::registry {
namespace {

using testing::Actor;
using testing::kSecond;
using testing::Machine;

struct DoctorTest : ::testing::Test {
  // "place: problem" of all findings, in order.
  std::string findings() {
    const auto found = diagnose(watcher.site());
    EXPECT_TRUE(found) << (found ? "" : found.error().to_string());
    std::string text;
    for (const Finding& each : *found) {
      EXPECT_FALSE(each.remedy.empty());
      text += each.place + ": " + each.problem + (each.needs_somebody ? " !" : "") + "\n";
    }
    return text;
  }

  Machine machine;
  Actor watcher{machine, 40};
  Actor job{machine, 50};
};

TEST_F(DoctorTest, finds_nothing_where_there_is_nothing_or_all_is_well) {
  EXPECT_EQ(findings(), "");
  ASSERT_TRUE(job.lease("train", "llama", true));
  auto swap = watcher.swap("llama");
  ASSERT_TRUE(swap);
  EXPECT_EQ(findings(), "");
  ASSERT_TRUE(swap->finish(watcher.site()));
  EXPECT_EQ(findings(), "");
}

TEST_F(DoctorTest, changes_nothing) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  {
    auto swap = job.swap("llama");
    ASSERT_TRUE(swap);
  }
  job.die();
  machine.put("preempt-nobody", "");
  const std::uint64_t before = machine.disk->changing_calls();
  EXPECT_NE(findings(), "");
  EXPECT_EQ(machine.disk->changing_calls(), before);
}

TEST_F(DoctorTest, tells_the_dead_the_late_and_the_hidden) {
  Actor dying(machine, 51);
  ASSERT_TRUE(dying.lease("dead", "llama"));
  ASSERT_TRUE(job.lease("late", "llama", false, 1));
  ASSERT_TRUE(job.lease("well", "llama", false, 100));
  dying.die();
  machine.clock.advance_ns(2 * kSecond);
  EXPECT_EQ(findings(),
            "dead: process 51 has ended\n"
            "late: process 50 has not renewed in time\n");
  machine.table.space = "pid:[2]";
  EXPECT_EQ(findings(),
            "dead: process 51 is in a container that we cannot look into\n"
            "late: process 50 has not renewed in time\n"
            "well: process 50 is in a container that we cannot look into\n");
}

TEST_F(DoctorTest, tells_an_orphan_and_a_lock_that_nobody_who_swaps_has) {
  auto swap = job.swap("qwen");
  ASSERT_TRUE(swap);
  job.die();
  EXPECT_EQ(findings(),
            "the swap to qwen: is nobody's: process 50 has ended\n"
            "./gpu/.swap.lock: is held, but by nobody who is swapping; it is held by process 50 on "
            "host gpu-1 !\n");
  ASSERT_TRUE(list(watcher.site()));
  EXPECT_EQ(findings(),
            "./gpu/.swap.lock: is held, but by nobody who is swapping; it is held by process 50 on "
            "host gpu-1 !\n");
}

TEST_F(DoctorTest, tells_what_lies_about) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  machine.put("preempt-nobody", "");
  machine.put("workflows.json.new", "half");
  machine.put("swap_log.jsonl", "{\"event\":");
  EXPECT_EQ(findings(),
            "./gpu/preempt-nobody: is a signal file that is nobody's !\n"
            "./gpu/workflows.json.new: is left of a write that did not come to its end\n"
            "./gpu/swap_log.jsonl: ends with a line that was cut short\n");
}

TEST_F(DoctorTest, tells_a_file_that_cannot_be_read_and_its_copy) {
  machine.put("workflows.json", "{");
  EXPECT_EQ(findings(),
            "./gpu/workflows.json: is not a state: $: the text ends inside a map (line 1, "
            "column 2) !\n");
  ASSERT_FALSE(job.lease("train", "llama"));
  EXPECT_NE(findings().find(".corrupt-"), std::string::npos);
}

TEST_F(DoctorTest, tells_a_file_that_is_too_large) {
  machine.put("workflows.json", std::string(kMaxStateBytes + 1, ' '));
  EXPECT_EQ(findings(),
            "./gpu/workflows.json: is not a state: $: is 8388609 bytes long; no state has more "
            "than 8388608 !\n");
}

TEST_F(DoctorTest, tells_a_lock_that_is_not_given_back) {
  ASSERT_TRUE(job.lease("train", "llama"));
  auto lock = machine.disk->lock("./gpu/.workflows.lock", "process 7 on host gpu-1");
  ASSERT_TRUE(lock);
  machine.put("preempt-nobody", "");
  const std::int64_t before = machine.clock.since_boot_ns();
  EXPECT_EQ(findings(),
            "./gpu/preempt-nobody: is a signal file that is nobody's !\n"
            "./gpu/.workflows.lock: others have had the lock all the time; it is held by process 7 "
            "on host gpu-1 !\n")
      << "and the rest is looked at all the same";
  EXPECT_LT(machine.clock.since_boot_ns() - before, 6 * kSecond);
  lock->reset();
  EXPECT_EQ(findings(), "./gpu/preempt-nobody: is a signal file that is nobody's !\n");
}

TEST_F(DoctorTest, tells_a_place_that_is_not_of_this_machine) {
  ASSERT_TRUE(job.lease("train", "llama"));
  machine.disk->set_file_system({env::FileSystemKind::kNetwork, "nfs"});
  EXPECT_EQ(findings(), "./gpu: is on another machine's disk (nfs) !\n");
  machine.disk->set_file_system({env::FileSystemKind::kMemory, "tmpfs"});
  EXPECT_EQ(findings(), "./gpu: is in memory (tmpfs)\n");
}

}  // namespace
}  // namespace holdfast::registry
