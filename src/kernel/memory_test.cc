// SPDX-License-Identifier: Apache-2.0
// What was only looked at does not stay in memory without bound, whoever looked. That it is gone
// shows when it is looked for again: it is read.
#include <gtest/gtest.h>

#include <type_traits>

#include "base/sha256.h"
#include "kernel/open_intents.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::CountingBlobs;
using testing::LabTest;
using testing::value;

class MemoryTest : public LabTest {
 protected:
  static constexpr int kInstances = 200;

  // Asleep, in a world that keeps ten in memory.
  World asleep() {
    World world(machines_, blobs_);
    const base::Bytes definitions = value(testing::lab(testing::kToKeyed));
    tick(world, ApplyManifest{definitions});
    for (int i = 0; i < kInstances; ++i) {
      const base::Bytes event = value(go(std::to_string(i), 1));
      tick(world, EventArrived{"lab/Go@1", event, ""});
    }
    return *World::restore(machines_, blobs_, *world.snapshot(), {{10, 1 << 20}, nullptr});
  }
  static base::Bytes key(int i) { return value("\"" + std::to_string(i) + "\""); }

  static Outcome tick(World& world, decltype(Tick::input) input) {
    Tick tick;
    tick.input = input;
    return world.reduce(tick);
  }

  // How many reads it takes to look at all of them a second time.
  int reads_again(World& world, const std::function<void(const base::Bytes&)>& look) {
    for (int i = 0; i < kInstances; ++i) look(key(i));
    tick(world, Continue{});  // refused, and done with
    blobs_.gets = 0;
    for (int i = 0; i < kInstances; ++i) look(key(i));
    return blobs_.gets;
  }

  CountingBlobs blobs_;
};

TEST_F(MemoryTest, ticks_that_are_refused_leave_few_cells_behind) {
  World world = asleep();
  EXPECT_GT(reads_again(world,
                        [&](const base::Bytes& key) {
                          const Outcome outcome = tick(
                              world, ControlRequested{Control::kResume, "lab/Keyed@1", key, ""});
                          EXPECT_TRUE(std::holds_alternative<Refused>(outcome.answer));
                        }),
            kInstances / 2);
}

TEST_F(MemoryTest, questions_leave_few_cells_behind) {
  World found = asleep();
  const int reads = reads_again(
      found, [&](const base::Bytes& key) { EXPECT_NE(*found.find("lab/Keyed@1", key), nullptr); });
  EXPECT_GT(reads, kInstances / 2);
}

TEST_F(MemoryTest, asking_why_alone_leaves_few_cells_behind) {
  World world = asleep();
  for (int i = 0; i < kInstances; ++i) (void)world.why("lab/Keyed@1", key(i));
  blobs_.gets = 0;
  for (int i = 0; i < kInstances; ++i) (void)world.why("lab/Keyed@1", key(i));
  EXPECT_GT(blobs_.gets, kInstances / 2);
}

TEST(OpenIntentsTest, those_that_were_only_looked_at_are_let_go_when_they_are_many) {
  testing::MemoryBlobs blobs;
  OpenIntents intents;
  const auto hash = [](std::size_t i) { return base::sha256(base::as_bytes(std::to_string(i))); };
  constexpr std::size_t kMany = OpenIntents::kMostLookedAt + 10;
  for (std::size_t i = 0; i < kMany; ++i)
    intents.add(hash(i), 0u, 0u, 1u, 1u, base::Hash(), base::ByteView(), base::ByteView(), "");
  intents.trim();
  EXPECT_EQ(intents.in_memory(), kMany) << "the index does not have them yet";
  ASSERT_TRUE(intents.flush(blobs));
  for (std::size_t i = 0; i < OpenIntents::kMostLookedAt; ++i) intents.find(blobs, hash(i));
  intents.trim();
  EXPECT_EQ(intents.in_memory(), OpenIntents::kMostLookedAt);
  intents.progressed(hash(0), 5);
  intents.remove(hash(1));
  ASSERT_NE(intents.find(blobs, hash(kMany - 1)), nullptr);
  intents.trim();
  EXPECT_EQ(intents.in_memory(), 2u) << "what changed stays";
  EXPECT_EQ(intents.find(blobs, hash(0))->last_progress, 5u);
  EXPECT_EQ(intents.find(blobs, hash(1)), nullptr);
  ASSERT_NE(intents.find(blobs, hash(2)), nullptr);
  ASSERT_TRUE(intents.flush(blobs));
  EXPECT_EQ(intents.size(), kMany - 1);
}

}  // namespace
}  // namespace holdfast::kernel
