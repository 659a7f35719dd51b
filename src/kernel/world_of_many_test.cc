// SPDX-License-Identifier: Apache-2.0
// Worlds that have more instances than may be in memory.
#include <gtest/gtest.h>

#include "kernel/testing_cells.h"
#include "kernel/world.h"

namespace holdfast::kernel {
namespace {

using testing::CountingBlobs;
using testing::LabTest;
using testing::value;

class WorldOfManyTest : public LabTest {};

TEST_F(WorldOfManyTest, what_is_written_ahead_is_invisible) {
  keyed_ = testing::work;
  const auto run = [&](bool writes_ahead) {
    bench_.emplace(testing::lab(testing::kToKeyed), machines_,
                   WorldOptions{{10, 1 << 20}, nullptr});
    std::vector<base::Hash> intents;
    for (int i = 0; i < 700; ++i) {
      intents.push_back(testing::opened(send(std::to_string(i), 1)).at(0));
      if (writes_ahead && i % 2 == 0) {
        EXPECT_TRUE(bench().world().write_ahead());
      }
      if (i % 3 == 0) bench().receipt(intents[intents.size() / 2], R"({"ok":true})");
    }
    return std::pair(bench().journal(), *bench().world().snapshot());
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(WorldOfManyTest, a_world_larger_than_memory_works_and_comes_to_the_same_records) {
  keyed_ = testing::work;
  const auto run = [&](WorldOptions options) {
    bench_.emplace(testing::lab(testing::kToKeyed), machines_, options);
    std::vector<base::Hash> intents;
    for (int i = 0; i < 500; ++i) {
      intents.push_back(testing::opened(send(std::to_string(i), 1)).at(0));
      if (i % 50 != 0) continue;
      EXPECT_TRUE(bench().world().snapshot());
    }
    for (const base::Hash& intent : intents) bench().receipt(intent, R"({"ok":true})");
    return std::pair(bench().journal(), *bench().world().snapshot());
  };
  const auto small = run({{1, 1}, nullptr});
  EXPECT_EQ(small, run({}));
}

TEST_F(WorldOfManyTest, blobs_that_fail_stop_the_world_with_the_reason) {
  CountingBlobs blobs;
  World world(machines_, blobs);
  const base::Bytes definitions = value(testing::lab(testing::kToKeyed));
  Tick tick;
  tick.input = ApplyManifest{definitions};
  ASSERT_FALSE(world.reduce(tick).failure);
  const base::Bytes event = value(R"({"id":"a","n":1})");
  tick.input = EventArrived{"lab/Go@1", event, ""};
  ASSERT_FALSE(world.reduce(tick).failure);
  auto again = World::restore(machines_, blobs, *world.snapshot());
  ASSERT_TRUE(again);
  blobs.broken = true;
  const Outcome outcome = again->reduce(tick);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->to_string(), "the disk is gone");
}

TEST_F(WorldOfManyTest, a_question_that_cannot_be_answered_is_an_error_and_not_a_no) {
  keyed_ = testing::work;
  CountingBlobs blobs;
  World world(machines_, blobs);
  const base::Bytes definitions = value(testing::lab(testing::kToKeyed));
  Tick tick;
  tick.input = ApplyManifest{definitions};
  ASSERT_FALSE(world.reduce(tick).failure);
  const base::Bytes event = value(R"({"id":"a","n":1})");
  tick.input = EventArrived{"lab/Go@1", event, ""};
  const base::Hash intent = testing::opened(world.reduce(tick)).at(0);
  const base::Bytes snapshot = *world.snapshot();
  const base::Bytes key = value(R"("a")");
  const std::function<std::string(World&)> questions[] = {
      [&](World& asked) {
        const auto found = asked.find("lab/Keyed@1", key);
        return found ? "there" : found.error().to_string();
      },
      [&](World& asked) {
        const auto found = asked.find_intent(intent);
        return found ? "there" : found.error().to_string();
      },
      [&](World& asked) {
        const auto why = asked.why("lab/Keyed@1", key);
        return why ? "there" : why.error().to_string();
      },
      [&](World& asked) {
        const auto seen = asked.visit_instances([](std::string_view, const Cell&) { return true; });
        return seen ? "there" : seen.error().to_string();
      },
  };
  for (const auto& ask : questions) {
    blobs.broken = false;
    auto whole = World::restore(machines_, blobs, snapshot);
    ASSERT_TRUE(whole);
    EXPECT_EQ(ask(*whole), "there");
    auto broken = World::restore(machines_, blobs, snapshot);
    ASSERT_TRUE(broken);
    blobs.broken = true;
    EXPECT_EQ(ask(*broken), "the disk is gone");
    blobs.broken = false;
    EXPECT_EQ(ask(*broken), "there") << "the error was the question's own";
    EXPECT_TRUE(broken->snapshot());
  }
}

}  // namespace
}  // namespace holdfast::kernel
