// SPDX-License-Identifier: Apache-2.0
// Design: "Snapshots" of the store, as far as the kernel makes and reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::HasSubstr;
using testing::kToKeyed;
using testing::LabTest;
using testing::MemoryBlobs;
using testing::opened;

class SnapshotTest : public LabTest {
 protected:
  void SetUp() override {
    keyed_ = testing::work;
    begin(kToKeyed);
  }
};

TEST_F(SnapshotTest, the_same_state_gives_the_same_bytes_however_often_it_was_put_away) {
  for (int i = 0; i < 40; ++i) {
    send(std::to_string(i), 1, "id-" + std::to_string(i));
    if (i % 7 == 0) bench().put_away();
  }
  EXPECT_EQ(*bench().replayed().snapshot(), *bench().world().snapshot());
}

TEST_F(SnapshotTest, of_an_empty_world_is_an_empty_world) {
  MemoryBlobs blobs;
  World empty(machines_, blobs);
  auto restored = World::restore(machines_, blobs, *empty.snapshot());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->next_record(), 1u);
}

// Blobs that are lost at some put, and once.
class LossyBlobs : public MemoryBlobs {
 public:
  base::Result<base::Hash> put(base::ByteView bytes) override {
    if (left-- == 0) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::put(bytes);
  }
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    if (unreadable) return base::Error(base::ErrorCode::kIo, "the disk cannot be read");
    return MemoryBlobs::get(hash);
  }
  int left = -1;
  bool unreadable = false;
};

// A world on such blobs, with one effect open.
class LossyTest : public SnapshotTest {
 protected:
  World begun() {
    World world(machines_, blobs_);
    const base::Bytes definitions = testing::document(testing::lab(kToKeyed));
    const base::Bytes event = testing::value(go("a", 1));
    Tick tick;
    tick.input = ApplyManifest{definitions};
    EXPECT_FALSE(world.reduce(tick).record.empty());
    tick.input = EventArrived{"lab/Go@1", event, "id"};
    EXPECT_FALSE(world.reduce(tick).record.empty());
    return world;
  }
  // Nothing of it is used any more, whatever became of the blobs.
  void expect_failed(World& world, std::string_view why) {
    blobs_.left = -1;
    blobs_.unreadable = false;
    const base::Bytes event = testing::value(go("b", 1));
    Tick tick;
    tick.input = EventArrived{"lab/Go@1", event, ""};
    const Outcome outcome = world.reduce(tick);
    ASSERT_TRUE(outcome.failure);
    EXPECT_THAT(outcome.failure->to_string(), HasSubstr(std::string(why)));
    EXPECT_TRUE(outcome.record.empty());
    EXPECT_FALSE(world.snapshot());
    EXPECT_FALSE(world.visit_intents([](const base::Hash&, const Intent&) { return true; }));
  }
  LossyBlobs blobs_;
};

TEST_F(LossyTest, a_world_whose_snapshot_was_not_made_has_failed) {
  for (int puts = 0;; ++puts) {
    World world = begun();
    blobs_.left = puts;
    if (world.snapshot()) {
      EXPECT_GE(puts, 4) << "cells, intents, definitions, event ids";
      return;
    }
    expect_failed(world, "the disk is gone");
  }
}

TEST_F(LossyTest, open_intents_that_cannot_be_visited_are_an_error_and_the_world_goes_on) {
  const auto all = [](const base::Hash&, const Intent&) { return true; };
  World unread = begun();
  ASSERT_TRUE(unread.snapshot());
  blobs_.unreadable = true;
  EXPECT_FALSE(unread.visit_intents(all));
  blobs_.unreadable = false;
  EXPECT_TRUE(unread.visit_intents(all));
  EXPECT_TRUE(unread.snapshot());
}

TEST_F(SnapshotTest, restore_fails_closed_on_a_missing_blob) {
  send("a", 1, "id");
  const base::Bytes snapshot = *bench().world().snapshot();
  MemoryBlobs none;
  const auto restored = World::restore(machines_, none, snapshot);
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().to_string(), HasSubstr("no blob"));
}

TEST_F(SnapshotTest, of_another_version_is_not_taken_for_damaged) {
  base::Bytes snapshot = *bench().world().snapshot();
  constexpr std::size_t kVersion = 4;  // after the tag and the head of the list
  ASSERT_EQ(snapshot[kVersion], 1);
  snapshot[kVersion] = 2;
  const auto restored = World::restore(machines_, bench().blobs(), snapshot);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(restored.error().to_string(),
              HasSubstr("version 2, and this program knows version 1: open the world with"));
}

TEST_F(SnapshotTest, restore_fails_closed_when_there_is_no_code_for_a_workflow) {
  const base::Bytes snapshot = *bench().world().snapshot();
  const testing::Machines none{};
  const auto restored = World::restore(none, bench().blobs(), snapshot);
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().to_string(), HasSubstr("no code is there for 'keyed'"));
}

TEST_F(SnapshotTest, restore_refuses_every_cut_and_survives_every_flipped_bit) {
  send("a", 1, "id");
  const base::Bytes good = *bench().world().snapshot();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(World::restore(machines_, bench().blobs(), base::ByteView(good).first(size)));
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    base::Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    auto restored = World::restore(machines_, bench().blobs(), bad);
    if (!restored) ++refused;
  }
  EXPECT_GT(refused, good.size() * 5) << "hashes that lead nowhere are refused; counts may differ";
}

TEST_F(SnapshotTest, a_long_list_is_kept_in_blobs_of_bounded_size) {
  for (int i = 0; i < 20'000; ++i) send("a", 1, "event-" + std::to_string(i));
  // A hash and a time for every 1024 ids.
  EXPECT_LT(bench().world().snapshot()->size(), 2000u);
  bench().put_away();
  EXPECT_TRUE(std::holds_alternative<Repeated>(send("a", 1, "event-0").answer));
  EXPECT_TRUE(std::holds_alternative<Repeated>(send("a", 1, "event-19999").answer));
}

TEST_F(SnapshotTest, open_intents_sleep_in_the_index_and_are_found_again) {
  std::vector<base::Hash> intents;
  for (int i = 0; i < 100; ++i) intents.push_back(opened(send(std::to_string(i), 1)).at(0));
  bench().put_away();
  EXPECT_EQ(bench().world().open_intents(), 100u);
  std::size_t visited = 0;
  ASSERT_TRUE(bench().world().visit_intents([&](const base::Hash& hash, const Intent& intent) {
    ++visited;
    EXPECT_EQ(testing::json_of(intent.params()), R"({"a":1,"b":null})");
    return std::find(intents.begin(), intents.end(), hash) != intents.end();
  }));
  EXPECT_EQ(visited, 100u);
  EXPECT_EQ(*bench().world().find_intent(base::sha256(base::as_bytes("no"))), nullptr);
  for (const base::Hash& intent : intents) bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(bench().world().open_intents(), 0u);
  bench().expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
