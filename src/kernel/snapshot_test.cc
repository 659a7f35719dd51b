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

TEST_F(SnapshotTest, restore_fails_closed_on_a_missing_blob) {
  send("a", 1, "id");
  const base::Bytes snapshot = *bench().world().snapshot();
  MemoryBlobs none;
  const auto restored = World::restore(machines_, none, snapshot);
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().to_string(), HasSubstr("no blob"));
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
  EXPECT_LT(bench().world().snapshot()->size(), 1000u);
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
