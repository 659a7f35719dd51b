// SPDX-License-Identifier: Apache-2.0
// Design: "Apply, governance, shadow".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "defs/builtin.h"
#include "defs/load.h"
#include "defs/patch.h"
#include "kernel/limits.h"
#include "kernel/manifest_change.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using testing::emit;
using ::testing::HasSubstr;
using testing::json_of;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::kToSingle;
using testing::lab;
using testing::LabTest;
using testing::opened;
using testing::state;
using testing::value;

class ApplyTickTest : public LabTest {
 protected:
  Blocked blocked(const Outcome& outcome) {
    EXPECT_TRUE(outcome.record.empty());
    const auto* answer = std::get_if<Blocked>(&outcome.answer);
    EXPECT_NE(answer, nullptr);
    return answer == nullptr ? Blocked{} : *answer;
  }
  base::Hash manifest() { return bench().world().program().manifest_hash(); }
};

TEST_F(ApplyTickTest, a_world_without_a_manifest_accepts_nothing_but_one) {
  testing::MemoryBlobs blobs;
  World world(machines_, blobs);
  const base::Bytes event = value("{}");
  Tick tick;
  tick.input = EventArrived{"lab/Go@1", event, ""};
  EXPECT_EQ(std::get<Refused>(world.reduce(tick).answer).code, base::ErrorCode::kNotFound);
  EXPECT_TRUE(world.program().manifest_hash().is_zero());
  const base::Bytes definitions = value(lab(kToKeyed));
  tick.input = ApplyManifest{definitions};
  EXPECT_TRUE(std::holds_alternative<Accepted>(world.reduce(tick).answer));
  EXPECT_EQ(world.next_record(), 2u);
}

TEST_F(ApplyTickTest, without_room_it_is_refused_and_goes_through_when_there_is_some) {
  begin(std::string(kToKeyed) + "," + kToSingle);
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  single_ = keyed_;
  send("d", 1);
  bench().blobs().is_full = true;
  const base::Hash before = manifest();
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = bench().apply(testing::lab_without_keyed(kToSingle));
    ASSERT_FALSE(outcome.failure) << outcome.failure->to_string();
    EXPECT_TRUE(outcome.record.empty());
    EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kUnavailable);
    EXPECT_EQ(manifest(), before);
  }
  EXPECT_EQ(name_of(keyed("d")->status()), "completed");
  bench().blobs().is_full = false;
  EXPECT_TRUE(std::holds_alternative<Accepted>(
      bench().apply(testing::lab_without_keyed(kToSingle)).answer));
  EXPECT_NE(manifest(), before);
  EXPECT_EQ(name_of(keyed("d")->status()), "completed");
}

TEST_F(ApplyTickTest, is_refused_while_what_it_touches_is_under_way_and_lists_exactly_that) {
  // a waits for an effect; b is idle but has not ended; c is paused and has mail; d has ended.
  begin(kToKeyed);
  keyed_ = testing::work;
  const base::Hash intent = opened(send("a", 1)).at(0);
  keyed_ = testing::keep;
  send("b", 1);
  send("c", 1);
  bench().control(Control::kPause, "lab/Keyed@1", R"("c")");
  send("c", 2);
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  send("d", 1);
  const base::Bytes before = *bench().world().snapshot();
  const base::Hash manifest_before = manifest();

  const Blocked answer = blocked(bench().apply(lab(kToSingle)));
  const std::vector<Blocker> all{
      {"lab/Keyed@1", value(R"("a")"), Status::kWaiting, false, {intent}, 0},
      {"lab/Keyed@1", value(R"("b")"), Status::kRunning, false, {}, 0},
      {"lab/Keyed@1", value(R"("c")"), Status::kRunning, true, {}, 1},
  };
  EXPECT_THAT(answer.blockers, ::testing::UnorderedElementsAreArray(all));
  EXPECT_EQ(answer.count, 3u);
  ASSERT_EQ(answer.workflows.size(), 1u);
  EXPECT_EQ(answer.workflows[0].workflow, "lab/Keyed@1");
  EXPECT_EQ(answer.workflows[0].count, 3u);
  EXPECT_THAT(answer.workflows[0].because, ElementsAre("the route of lab/Go@1"));
  EXPECT_EQ(*bench().world().snapshot(), before);
  EXPECT_EQ(manifest(), manifest_before);

  // They end one by one, each in its way; then nothing blocks.
  keyed_ = testing::work;
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(blocked(bench().apply(lab(kToSingle))).blockers.size(), 2u);
  bench().control(Control::kCancel, "lab/Keyed@1", R"("b")");
  keyed_ = [](const StepInput&, StepOutput& output) { output.remove(); };
  bench().control(Control::kResume, "lab/Keyed@1", R"("c")");
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().apply(lab(kToSingle)).answer));
  EXPECT_NE(manifest(), manifest_before);
}

TEST_F(ApplyTickTest, to_ask_whether_it_could_be_applied_changes_nothing) {
  begin(kToKeyed);
  keyed_ = testing::keep;
  send("a", 1);
  const base::Bytes before = *bench().world().snapshot();
  const base::Bytes definitions = value(lab(kToSingle));
  const base::Bytes bad = value("[]");
  EXPECT_EQ(std::get<Blocked>(bench().world().try_apply(definitions)).count, 1u);
  EXPECT_EQ(std::get<Refused>(bench().world().try_apply(bad)).code, base::ErrorCode::kInvalid);
  bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().world().try_apply(definitions)));
  EXPECT_NE(*bench().world().snapshot(), before);  // it was cancelled
  EXPECT_EQ(manifest(), bench().replayed().program().manifest_hash());
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().apply(lab(kToSingle)).answer));
}

TEST_F(ApplyTickTest, the_manifest_that_is_there_is_not_applied_again) {
  begin(kToKeyed);
  keyed_ = testing::keep;
  send("a", 1);
  const std::uint64_t next = bench().world().next_record();
  const Outcome outcome = bench().apply(lab(kToKeyed));
  EXPECT_TRUE(std::holds_alternative<Unchanged>(outcome.answer));
  EXPECT_TRUE(outcome.record.empty());
  EXPECT_EQ(bench().world().next_record(), next);
  const base::Bytes same = value(lab(kToKeyed));
  EXPECT_TRUE(std::holds_alternative<Unchanged>(bench().world().try_apply(same, {.strict = true})));
}

TEST_F(ApplyTickTest, what_is_only_added_is_applied_beside_work_and_numbers_stay) {
  // Without Keyed first: it comes in front of the others, in the order of the manifest.
  keyed_ = numbered_ = testing::work;
  bench().apply(testing::lab_without_keyed(kToNumbered));
  const base::Hash intent = opened(send("a", 7)).at(0);
  bench().put_away();
  const Numbering before = bench().world().program().numbering();

  const base::Bytes more = value(lab(std::string(kToKeyed) + "," + kToNumbered));
  EXPECT_EQ(std::get<Blocked>(bench().world().try_apply(more, {.strict = true})).count, 1u)
      << "strict";
  const Outcome outcome = bench().apply(lab(std::string(kToKeyed) + "," + kToNumbered));
  ASSERT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
  EXPECT_THAT(json_of(outcome.record), HasSubstr("beside work"));
  EXPECT_THAT(std::get<Accepted>(outcome.answer).change->added, ElementsAre("lab/Keyed@1"));
  EXPECT_TRUE(std::get<Accepted>(outcome.answer).change->changed.empty());
  const Numbering after = bench().world().program().numbering();
  for (std::size_t i = 0; i < before.workflows.size(); ++i)
    EXPECT_EQ(after.workflows[i], before.workflows[i]);
  for (std::size_t i = 0; i < before.effects.size(); ++i)
    EXPECT_EQ(after.effects[i], before.effects[i]);
  EXPECT_FALSE(bench().world().program().is_numbered_in_order());

  // Both run, over a snapshot, and the one from before hears of its effect.
  EXPECT_EQ(std::get<Accepted>(send("b", 8).answer).deliveries, 2u);
  bench().put_away();
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(bench().find("lab/Numbered@1", "7")->status(), Status::kCompleted);
  EXPECT_EQ(bench().find("lab/Numbered@1", "8")->status(), Status::kWaiting);
  EXPECT_EQ(keyed("b")->status(), Status::kWaiting);
  bench().expect_replays();
}

TEST_F(ApplyTickTest, when_all_is_quiet_numbers_are_those_of_the_manifest_again) {
  keyed_ = numbered_ = testing::keep;
  bench().apply(testing::lab_without_keyed(kToNumbered));
  send("a", 7);
  bench().apply(lab(std::string(kToKeyed) + "," + kToNumbered));
  EXPECT_FALSE(bench().world().program().is_numbered_in_order());
  bench().control(Control::kCancel, "lab/Numbered@1", "7");
  ASSERT_TRUE(std::holds_alternative<Accepted>(bench().apply(lab(kToNumbered)).answer));
  EXPECT_TRUE(bench().world().program().is_numbered_in_order());
  bench().put_away();
  EXPECT_EQ(bench().find("lab/Numbered@1", "7")->status(), Status::kCancelled);
  bench().expect_replays();
}

TEST_F(ApplyTickTest, an_addition_looks_at_no_instance) {
  testing::CountingBlobs blobs;
  World world(machines_, blobs, {{.clean_cells = 0}});
  single_ = keyed_ = testing::keep;
  const auto reduce = [&](decltype(Tick::input) input) {
    Tick tick;
    tick.input = input;
    return world.reduce(tick);
  };
  const base::Bytes first = testing::document(lab(kToKeyed));
  const base::Bytes more = testing::document(lab(std::string(kToKeyed) + "," + kToSingle));
  reduce(ApplyManifest{first});
  for (int i = 0; i < 500; ++i) {
    const base::Bytes event = value(go(std::to_string(i), 1));
    reduce(EventArrived{"lab/Go@1", event, ""});
  }
  ASSERT_TRUE(world.snapshot());
  blobs.gets = blobs.puts = 0;
  EXPECT_TRUE(std::holds_alternative<Accepted>(reduce(ApplyManifest{more}).answer));
  EXPECT_EQ(blobs.gets, 0);
  EXPECT_EQ(blobs.puts, 0);
}

TEST_F(ApplyTickTest, what_is_queued_blocks) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, 1);
    if (testing::number(input) < 2000)
      emit(output, "lab/Go@1", go("a", testing::number(input) + 1));
  };
  send("a", 0);
  EXPECT_EQ(blocked(bench().apply(lab(kToSingle))).blockers.at(0).mail, 1u);
}

TEST_F(ApplyTickTest, lists_a_thousand_blockers_and_counts_the_rest) {
  begin(kToKeyed);
  for (std::size_t i = 0; i < kMaxBlockersListed + 5; ++i) send(std::to_string(i), 1);
  const Blocked answer = blocked(bench().apply(lab(kToSingle)));
  EXPECT_EQ(answer.blockers.size(), kMaxBlockersListed);
  EXPECT_EQ(answer.count, kMaxBlockersListed + 5);
}

TEST_F(ApplyTickTest, looks_at_a_bounded_number_of_instances_and_writes_nothing_to_list_blockers) {
  testing::CountingBlobs blobs;
  World world(machines_, blobs, {{.clean_cells = 0}});
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (testing::number(input) == 1) return testing::complete(output, "1");
    state(output, 2);
  };
  const auto reduce = [&](decltype(Tick::input) input) {
    Tick tick;
    tick.input = input;
    return world.reduce(tick);
  };
  const base::Bytes first = testing::document(lab(kToKeyed));
  const base::Bytes definitions = testing::document(lab(kToSingle));
  reduce(ApplyManifest{first});
  for (std::size_t i = 0; i < 2 * kMaxLookedAtForBlockers; ++i) {
    const base::Bytes event = value(go(std::to_string(i), 1));
    reduce(EventArrived{"lab/Go@1", event, ""});
  }
  ASSERT_TRUE(world.snapshot());
  const base::Bytes last = value(go("last", 2));
  reduce(EventArrived{"lab/Go@1", last, ""});
  blobs.gets = blobs.puts = 0;
  const auto in_memory = std::get<Blocked>(reduce(ApplyManifest{definitions}).answer);
  EXPECT_EQ(in_memory.blockers.size(), 1u) << "it is in memory, where it is looked for first";
  EXPECT_EQ(blobs.gets, 0);
  ASSERT_TRUE(world.snapshot());
  blobs.gets = blobs.puts = 0;
  const auto blocked = std::get<Blocked>(reduce(ApplyManifest{definitions}).answer);
  EXPECT_EQ(blocked.count, 1u);
  EXPECT_EQ(blobs.puts, 0);
  // A leaf has up to 32 cells, and half as many on the average.
  EXPECT_LT(blobs.gets, static_cast<int>(kMaxLookedAtForBlockers / 4));
}

TEST_F(ApplyTickTest,
       what_ended_stays_readable_and_fenced_also_when_its_workflow_goes_and_comes_back) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "42"); };
  send("a", 1, "event-1");
  ASSERT_TRUE(std::holds_alternative<Accepted>(bench().apply(lab(kToSingle)).answer));
  EXPECT_EQ(json_of(keyed("a")->outcome), "42");
  bench().apply(testing::lab_without_keyed());
  EXPECT_EQ(json_of((*bench().world().find("lab/Keyed@1", value(R"("a")")))->outcome), "42");
  EXPECT_EQ(json_of((*bench().world().read("lab/Keyed@1", value(R"("a")")))->outcome), "42");
  EXPECT_EQ(*bench().world().find("lab/Keyed@1", value(R"("b")")), nullptr);
  EXPECT_EQ(*bench().world().find("lab/Never@1", value(R"("a")")), nullptr);
  bench().put_away();
  bench().apply(lab(kToKeyed));
  EXPECT_EQ(json_of(keyed("a")->outcome), "42");
  EXPECT_EQ(std::get<Accepted>(send("a", 1).answer).ignored, 1u);
  EXPECT_TRUE(std::holds_alternative<Repeated>(send("a", 1, "event-1").answer));
  bench().expect_replays();
}

TEST_F(ApplyTickTest, replay_and_snapshots_cross_an_upgrade) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  numbered_ = testing::work;
  send("a", 1);
  bench().apply(lab(kToNumbered));
  const base::Hash intent = opened(send("a", 7)).at(0);
  bench().put_away();
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(bench().find("lab/Numbered@1", "7")->status(), Status::kCompleted);
  bench().expect_replays();
}

TEST_F(ApplyTickTest, definitions_that_are_not_good_are_refused_with_everything_that_is_wrong) {
  const Outcome outcome = bench().apply(
      R"([{"$kind":"defschema","name":"a/X@1","type":{"ref":"a/None@1"}},
          {"$kind":"manifest","air_version":"2","schemas":[{"name":"a/Other@1"}],"modules":[],"workflows":[],"effects":[]}])");
  const auto& refusal = std::get<Refused>(outcome.answer);
  EXPECT_THAT(refusal.details,
              ElementsAre("$[0].type.ref: there is no defschema named 'a/None@1'",
                          "$[1].schemas: there is no defschema named 'a/Other@1'"));
  EXPECT_TRUE(std::holds_alternative<Refused>(bench().apply("[]").answer));
  EXPECT_TRUE(std::holds_alternative<Refused>(bench().tick(ApplyManifest{}).answer));
}

TEST_F(ApplyTickTest, a_workflow_without_code_is_refused) {
  const testing::Machines none{};
  testing::MemoryBlobs blobs;
  World world(none, blobs);
  const base::Bytes definitions = value(lab(kToKeyed));
  Tick tick;
  tick.input = ApplyManifest{definitions};
  const Outcome outcome = world.reduce(tick);
  EXPECT_THAT(std::get<Refused>(outcome.answer).details.at(0),
              HasSubstr("no code is there for 'keyed' of 'lab/code@1'"));
}

class GovernanceTest : public ApplyTickTest {
 protected:
  void SetUp() override { begin(kToKeyed); }
  Outcome propose(std::string_view json) {
    const base::Bytes document = value(json);
    return bench().tick(Propose{document, "more routes"});
  }
  std::uint64_t proposed(std::string_view json) {
    return std::get<Accepted>(propose(json).answer).record;
  }
  Outcome shadow(std::uint64_t id) {
    const base::Bytes report = value(R"({"effects":[],"differences":0})");
    return bench().tick(ReportShadow{id, report});
  }
  Outcome decide(std::uint64_t id, bool approve) {
    return bench().tick(Decide{id, approve, "ann", "looks good"});
  }
  Outcome apply(std::uint64_t id) { return bench().tick(ApplyProposal{id}); }
  std::string stage(std::uint64_t id) {
    for (const ProposalView& view : bench().world().proposals()) {
      if (view.id == id) return std::string(view.stage);
    }
    return "";
  }
  static bool accepted(const Outcome& outcome) {
    return std::holds_alternative<Accepted>(outcome.answer);
  }
  static base::ErrorCode refused(const Outcome& outcome) {
    EXPECT_TRUE(outcome.record.empty());
    return std::get<Refused>(outcome.answer).code;
  }
};

TEST_F(GovernanceTest, propose_shadow_approve_apply_each_survives_snapshot_and_replay) {
  const std::uint64_t id = proposed(lab(kToSingle));
  bench().put_away();
  EXPECT_EQ(stage(id), "proposed");
  EXPECT_TRUE(accepted(shadow(id)));
  bench().put_away();
  EXPECT_EQ(stage(id), "shadowed");
  EXPECT_TRUE(accepted(decide(id, true)));
  bench().put_away();
  EXPECT_EQ(stage(id), "approved");
  const base::Hash before = manifest();
  const Outcome outcome = apply(id);
  EXPECT_TRUE(accepted(outcome));
  EXPECT_NE(manifest(), before);
  EXPECT_THAT(json_of(outcome.record), HasSubstr("manifest.applied"));
  bench().put_away();
  EXPECT_EQ(stage(id), "applied");
  const ProposalView view = bench().world().proposals().at(0);
  EXPECT_EQ(view.manifest, manifest());
  EXPECT_EQ(view.description, "more routes");
  EXPECT_EQ(json_of(view.report), R"({"effects":[],"differences":0})");
  EXPECT_EQ(view.by, "ann");
  EXPECT_EQ(view.reason, "looks good");
  bench().expect_replays();
}

TEST_F(GovernanceTest, a_patch_says_how_the_present_manifest_changes) {
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle present =
      defs::load(codec::View::of(bench().world().program().closure()), "$", &builtin);
  const auto& routes = std::get<defs::Manifest>(present.manifest->definition).subscriptions;
  const std::string patch = R"({"base_manifest_hash":")" + manifest().to_text() +
                            R"(","patches":[{"set_routing_subscriptions":{"pre_hash":")" +
                            defs::hash_of(routes).to_text() + R"(","subscriptions":[)" + kToSingle +
                            "]}}]}";
  const std::uint64_t id = proposed(patch);
  shadow(id);
  decide(id, true);
  EXPECT_TRUE(accepted(apply(id)));
  EXPECT_EQ(std::get<Accepted>(send("a", 1).answer).deliveries, 1u);
  EXPECT_NE(bench().find("lab/Single@1", ""), nullptr);
  // The same patch again: it was made against another manifest.
  const Outcome again = propose(patch);
  EXPECT_EQ(refused(again), base::ErrorCode::kInvalid);
  EXPECT_THAT(std::get<Refused>(again.answer).details.at(0), HasSubstr("$.base_manifest_hash"));
  bench().expect_replays();
}

TEST_F(GovernanceTest, a_step_out_of_order_is_refused) {
  const std::uint64_t id = proposed(lab(kToSingle));
  EXPECT_EQ(refused(decide(id, true)), base::ErrorCode::kConflict) << "nobody tried it";
  EXPECT_EQ(refused(apply(id)), base::ErrorCode::kConflict);
  shadow(id);
  EXPECT_TRUE(accepted(shadow(id))) << "it may be tried again";
  EXPECT_EQ(refused(apply(id)), base::ErrorCode::kConflict);
  decide(id, true);
  EXPECT_EQ(refused(shadow(id)), base::ErrorCode::kConflict);
  EXPECT_EQ(refused(decide(id, true)), base::ErrorCode::kConflict);
  EXPECT_TRUE(accepted(decide(id, false))) << "an approval may be taken back";
  EXPECT_EQ(refused(apply(id)), base::ErrorCode::kConflict);
  EXPECT_EQ(refused(decide(id, false)), base::ErrorCode::kConflict);
  EXPECT_EQ(stage(id), "rejected");
}

TEST_F(GovernanceTest, a_proposal_that_is_not_there_is_refused) {
  EXPECT_EQ(refused(shadow(99)), base::ErrorCode::kNotFound);
  EXPECT_EQ(refused(decide(99, true)), base::ErrorCode::kNotFound);
  EXPECT_EQ(refused(apply(99)), base::ErrorCode::kNotFound);
}

TEST_F(GovernanceTest, what_is_not_good_cannot_be_proposed) {
  EXPECT_EQ(refused(propose(R"([{"$kind":"defschema"}])")), base::ErrorCode::kInvalid);
  EXPECT_EQ(refused(propose("5")), base::ErrorCode::kInvalid);
  EXPECT_EQ(refused(bench().tick(Propose{{}, ""})), base::ErrorCode::kInvalid);
  const base::Bytes document = value(lab(kToSingle));
  EXPECT_EQ(refused(bench().tick(Propose{document, "\xff"})), base::ErrorCode::kInvalid);
  const std::uint64_t id = proposed(lab(kToSingle));
  EXPECT_EQ(refused(bench().tick(ReportShadow{id, {}})), base::ErrorCode::kInvalid);
  const base::Bytes large((std::size_t{1} << 20) + 1);
  EXPECT_EQ(refused(bench().tick(ReportShadow{id, large})), base::ErrorCode::kTooLarge);
}

TEST_F(GovernanceTest, applying_a_proposal_is_as_strict_as_any_apply_and_it_stays_approved) {
  const std::uint64_t id = proposed(lab(kToSingle));
  shadow(id);
  decide(id, true);
  send("a", 1);
  EXPECT_EQ(blocked(apply(id)).count, 1u);
  EXPECT_EQ(stage(id), "approved");
  bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  EXPECT_TRUE(accepted(apply(id)));
}

TEST_F(GovernanceTest, a_proposal_against_a_manifest_that_is_gone_cannot_be_applied) {
  const std::uint64_t first = proposed(lab(kToSingle));
  const std::uint64_t second = proposed(lab(kToSingle));
  EXPECT_NE(first, second) << "equal proposals do not collide";
  for (const std::uint64_t id : {first, second}) {
    shadow(id);
    decide(id, true);
  }
  EXPECT_TRUE(accepted(apply(first)));
  EXPECT_EQ(refused(apply(second)), base::ErrorCode::kConflict);
}

TEST_F(GovernanceTest, without_room_a_proposal_is_refused_and_none_is_forgotten_for_it) {
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < kMaxProposals; ++i) ids.push_back(proposed(lab(kToSingle)));
  decide(ids[3], false);
  bench().blobs().is_full = true;
  const Outcome outcome = propose(lab(testing::kStopToKeyed));
  EXPECT_FALSE(outcome.failure);
  EXPECT_EQ(refused(outcome), base::ErrorCode::kUnavailable);
  EXPECT_EQ(stage(ids[3]), "rejected");
  bench().blobs().is_full = false;
  EXPECT_TRUE(accepted(propose(lab(testing::kStopToKeyed))));
  EXPECT_EQ(stage(ids[3]), "");
}

TEST_F(GovernanceTest, only_so_many_proposals_are_kept_and_the_oldest_decided_one_goes_first) {
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < kMaxProposals; ++i) ids.push_back(proposed(lab(kToSingle)));
  const std::size_t blobs = bench().blobs().count();
  EXPECT_EQ(refused(propose(lab(testing::kStopToKeyed))), base::ErrorCode::kUnavailable);
  EXPECT_EQ(bench().blobs().count(), blobs) << "nothing is kept of what is refused";
  decide(ids[3], false);
  EXPECT_TRUE(accepted(propose(lab(kToSingle))));
  EXPECT_EQ(stage(ids[3]), "");
  EXPECT_EQ(stage(ids[0]), "proposed");
}

}  // namespace
}  // namespace holdfast::kernel
