// SPDX-License-Identifier: Apache-2.0
// Code that is newer than the definitions of a world: it harms no instance, and what does not need
// it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using testing::emit;
using ::testing::HasSubstr;
using testing::kStopToKeyed;
using testing::kToKeyed;
using testing::kToSingle;
using testing::lab;
using testing::LabTest;
using testing::state;

constexpr char kWhy[] = "'lab/State@1' is another one in the code";

class UnfitCodeTest : public LabTest {
 protected:
  // One event ends its instance, one lets it go on.
  void SetUp() override {
    keyed_ = [](const StepInput& input, StepOutput& output) {
      if (testing::number(input) == 0) return testing::complete(output, "0");
      state(output, 1);
    };
    begin(std::string(kToKeyed) + "," + kStopToKeyed);
  }
  // As a node does it: out of a snapshot and the records behind it.
  base::Result<World> restored() {
    const base::Bytes snapshot = *bench().world().snapshot();
    return restored(snapshot, bench().journal().size());
  }
  base::Result<World> restored(base::ByteView snapshot, std::size_t records) {
    World world = TRY(World::restore(machines_, bench().blobs(), snapshot));
    for (; records < bench().journal().size(); ++records)
      TRY(world.replay(bench().journal()[records]));
    TRY(world.check_code());
    return world;
  }
  // The error of the first record that does not replay, and how many did before.
  std::pair<std::string, std::size_t> replayed() {
    World world(machines_, bench().blobs());
    std::size_t good = 0;
    for (const base::Bytes& record : bench().journal()) {
      const auto outcome = world.replay(record);
      if (!outcome) return {outcome.error().to_string(), good};
      ++good;
    }
    return {"", good};
  }
};

TEST_F(UnfitCodeTest, a_full_disk_is_no_reason_for_a_world_to_fail_that_is_asked_about_its_code) {
  send("a", 1);
  const base::Bytes snapshot = *bench().world().snapshot();
  const std::size_t records = bench().journal().size();
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  machines_.unfit = {"keyed"};
  World world = World::restore(machines_, bench().blobs(), snapshot).take();
  ASSERT_TRUE(world.replay(bench().journal()[records]));
  bench().blobs().is_full = true;
  EXPECT_EQ(world.check_code().error().code(), base::ErrorCode::kUnavailable);
  bench().blobs().is_full = false;
  EXPECT_EQ(world.check_code().error().code(), base::ErrorCode::kConflict)
      << "it can be asked again";
}

TEST_F(UnfitCodeTest, a_manifest_is_not_applied_and_every_workflow_is_named) {
  machines_.unfit = {"keyed", "single"};
  const Outcome outcome = bench().apply(lab(kToKeyed));
  const auto& refusal = std::get<Refused>(outcome.answer);
  EXPECT_EQ(refusal.code, base::ErrorCode::kConflict);
  EXPECT_THAT(refusal.details, ElementsAre(std::string("lab/Keyed@1: ") + kWhy,
                                           std::string("lab/Single@1: ") + kWhy));
  EXPECT_TRUE(outcome.record.empty());
}

TEST_F(UnfitCodeTest, a_proposal_may_be_made_before_the_code_is_there_and_is_applied_after) {
  machines_.unfit = {"keyed"};
  const base::Bytes document = testing::document(lab(kToSingle));
  const Outcome proposed = bench().tick(Propose{document, "later"});
  const std::uint64_t id = std::get<Accepted>(proposed.answer).record;
  const base::Bytes report = testing::value("{}");
  bench().tick(ReportShadow{id, report});
  bench().tick(Decide{id, true, "me", ""});
  EXPECT_EQ(std::get<Refused>(bench().tick(ApplyProposal{id}).answer).code,
            base::ErrorCode::kConflict);
  machines_.unfit = {};
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().tick(ApplyProposal{id}).answer));
}

TEST_F(UnfitCodeTest, a_world_is_not_used_when_an_instance_has_not_ended_and_it_is_named) {
  send("ended", 0);
  send("goes on", 1);
  machines_.unfit = {"keyed"};
  const auto world = restored();
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(world.error().to_string(), HasSubstr(R"(lab/Keyed@1 "goes on")"));
  EXPECT_THAT(world.error().to_string(), HasSubstr(kWhy));
}

TEST_F(UnfitCodeTest, a_world_is_restored_when_all_have_ended_and_takes_another_manifest) {
  send("ended", 0);
  machines_.unfit = {"keyed"};
  auto world = restored();
  ASSERT_TRUE(world) << world.error().to_string();
  const base::Bytes event = testing::value(go("new", 1));
  Tick tick;
  tick.input = EventArrived{"lab/Go@1", event, ""};
  const Outcome refused = world->reduce(tick);
  EXPECT_EQ(std::get<Refused>(refused.answer).code, base::ErrorCode::kConflict);
  EXPECT_THAT(std::get<Refused>(refused.answer).message, HasSubstr("lab/Keyed@1"));
  EXPECT_FALSE(refused.failure);
  const base::Bytes without = testing::document(testing::lab_without_keyed());
  tick.input = ApplyManifest{without};
  EXPECT_TRUE(std::holds_alternative<Accepted>(world->reduce(tick).answer));
}

TEST_F(UnfitCodeTest, records_behind_a_snapshot_may_end_the_instance_and_bring_other_definitions) {
  send("goes on", 1);
  const base::Bytes snapshot = *bench().world().snapshot();
  const std::size_t records = bench().journal().size();
  bench().control(Control::kCancel, "lab/Keyed@1", R"("goes on")");
  bench().apply(testing::lab_without_keyed());
  machines_.unfit = {"keyed"};
  const auto world = restored(snapshot, records);
  ASSERT_TRUE(world) << world.error().to_string();
  EXPECT_EQ(world->next_record(), bench().world().next_record());
}

// What is in the definition has happened so, whatever the code is today.
TEST_F(UnfitCodeTest, records_are_replayed_by_a_machine_that_is_made_of_the_definition) {
  machines_.defined = {"keyed"};
  const base::Bytes snapshot = *bench().world().snapshot();
  bench().apply(lab(kToKeyed));
  const std::size_t records = bench().journal().size() - 1;
  send("ended", 0);
  machines_.unfit = {"keyed"};
  auto world = restored(snapshot, records);
  ASSERT_TRUE(world) << world.error().to_string();
  EXPECT_EQ(world->next_record(), bench().world().next_record());
  const base::Bytes event = testing::value(go("new", 0));
  Tick tick;
  tick.input = EventArrived{"lab/Go@1", event, ""};
  EXPECT_EQ(std::get<Refused>(world->reduce(tick).answer).code, base::ErrorCode::kConflict);
  machines_.unfit = {};
  send("goes on", 1);
  machines_.unfit = {"keyed"};
  world = restored(snapshot, records);
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(world.error().to_string(), HasSubstr(R"(lab/Keyed@1 "goes on")"));
}

TEST_F(UnfitCodeTest, replay_goes_on_until_a_record_steps_it_which_is_named_with_the_instance) {
  bench().apply(lab(kToKeyed));
  send("a", 1);
  send("b", 1);
  machines_.unfit = {"keyed"};
  const auto [error, good] = replayed();
  EXPECT_EQ(good, 2u) << "both manifests";
  EXPECT_THAT(error, HasSubstr("record 3"));
  EXPECT_THAT(error, HasSubstr(R"(lab/Keyed@1 "a")"));
  EXPECT_THAT(error, HasSubstr(kWhy));
}

TEST_F(UnfitCodeTest, replay_does_not_need_the_code_of_workflows_that_no_record_steps) {
  send("a", 1);
  machines_.unfit = {"single", "numbered"};
  EXPECT_EQ(replayed(), std::pair(std::string(), std::size_t{2}));
}

TEST_F(UnfitCodeTest, an_instance_that_writes_to_it_ends_the_world_and_not_itself) {
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    emit(output, "lab/Go@1", go("a", 1));
  };
  begin(std::string(kStopToKeyed) + "," + kToSingle);
  machines_.unfit = {"single"};
  auto world = restored();
  ASSERT_TRUE(world) << world.error().to_string();
  const base::Bytes event = testing::value(R"({"id":"a"})");
  Tick tick;
  tick.input = EventArrived{"lab/Stop@1", event, ""};
  const Outcome outcome = world->reduce(tick);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->code(), base::ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.failure->to_string(), HasSubstr("lab/Single@1 cannot be stepped"));
}

}  // namespace
}  // namespace holdfast::kernel
