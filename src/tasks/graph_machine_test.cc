// SPDX-License-Identifier: Apache-2.0
// Graphs in a world: what becomes ready when, what an end takes with it, and that all of it is the
// same after a restart.
#include <gtest/gtest.h>

#include "tasks/testing_run.h"

namespace holdfast::tasks {
namespace {

using testing::graph;
using testing::GraphRun;
using testing::Lines;
using testing::plan_of;
using testing::stages;
using Keys = std::set<std::string>;

const std::string kChainDocument = stages(R"({"name":"a"},{"name":"b"},{"name":"c"})");
const std::string kDiamondDocument = graph(
    R"({"name":"top"},{"name":"left","dependsOn":["top"]},{"name":"right","dependsOn":["top"]},
       {"name":"bottom","dependsOn":["left","right"]})");

TEST(GraphMachine, a_chain_runs_one_task_after_the_other_to_done) {
  GraphRun run;
  run.submit(plan_of(kChainDocument));
  EXPECT_EQ(run.ready(), Keys{"g/0"});
  run.done("g/0");
  EXPECT_EQ(run.ready(), Keys{"g/1"});
  run.done("g/1");
  run.done("g/2", R"({"n":3})");
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone);
  EXPECT_EQ(run.graph().done, 3u);
  EXPECT_EQ(run.result(2), R"({"n":3})");
  EXPECT_EQ(testing::json_of(run.read(defs::kGraphWorkflow, "g")->outcome),
            R"({"done":3,"skipped":0})");
  EXPECT_EQ(run.world().open_intents(), 0u);
  run.expect_replays();
}

TEST(GraphMachine, a_join_of_branches_waits_for_all_of_them) {
  GraphRun run;
  run.submit(plan_of(kDiamondDocument));
  run.done("g/0");
  EXPECT_EQ(run.ready(), (Keys{"g/1", "g/2"}));
  run.done("g/2");
  EXPECT_EQ(run.ready(), Keys{"g/1"});
  run.done("g/1");
  EXPECT_EQ(run.ready(), Keys{"g/3"});
  run.expect_replays();
}

TEST(GraphMachine, after_every_record_a_restart_goes_on_as_if_there_was_none) {
  const Plan plan = plan_of(kDiamondDocument);
  for (std::size_t stop = 0; stop < 6; ++stop) {
    GraphRun run;
    run.submit(plan);
    std::size_t step = 0;
    while (!run.ready().empty()) {
      if (step++ == stop) run.reopen();
      run.done(*run.ready().begin());
    }
    EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone) << stop;
  }
}

TEST(GraphMachine, a_failure_fails_all_descendants_which_name_it_and_nobody_else) {
  GraphRun run;
  const Plan plan = plan_of(graph(
      R"({"name":"a"},{"name":"b","dependsOn":["a"]},{"name":"c","dependsOn":["b"]},{"name":"x"},
         {"name":"y","dependsOn":["x"]})"));
  run.submit(plan);
  run.failed("g/0", false, "no such file");
  EXPECT_EQ(run.states(plan),
            (Lines{"a FAILED", "b FAILED", "c FAILED", "x PENDING", "y PENDING"}));
  EXPECT_EQ(run.task(2).ended_with, (EndedWith{Ending::kDependency, 0, "a"}));
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kFailed);
  EXPECT_EQ(run.graph().phase, GraphPhase::kRunning);
  run.done("g/3");
  run.done("g/4");
  EXPECT_EQ(run.graph().phase, GraphPhase::kEnded);
  EXPECT_EQ(run.graph().first_error, "a: no such file");
  EXPECT_EQ(run.read(defs::kGraphWorkflow, "g")->status, kernel::Status::kFailed);
  run.expect_replays();
}

TEST(GraphMachine, a_retryable_error_spends_an_attempt_and_the_last_one_fails_the_task) {
  GraphRun run;
  run.submit(plan_of(testing::document(R"({"taskType":"echo","maxAttempts":3})")));
  run.failed("g/0", true, "first");
  EXPECT_EQ(run.task(0).attempts, 1u);
  EXPECT_NE(run.params("g/0").find("\"attempt\":2"), std::string::npos) << run.params("g/0");
  run.failed("g/0", true, "second");
  run.failed("g/0", true, "third");
  EXPECT_EQ(run.ready(), Keys{});
  EXPECT_EQ(run.state(0), "FAILED");
  EXPECT_EQ(run.task(0).attempts, 3u);
  EXPECT_EQ(run.task(0).error->message, "third");
}

TEST(GraphMachine, an_error_that_is_not_retryable_ends_the_task_at_once) {
  GraphRun run;
  run.submit(plan_of(testing::document(R"({"taskType":"echo"})")));
  run.failed("g/0", false);
  EXPECT_EQ(run.state(0), "FAILED");
  EXPECT_EQ(run.task(0).attempts, 1u);
}

TEST(GraphMachine, without_a_limit_attempts_go_on) {
  GraphRun run;
  run.submit(plan_of(testing::document(R"({"taskType":"echo","maxAttempts":-1})")));
  for (int i = 0; i < 20; ++i) run.failed("g/0", true);
  run.done("g/0");
  EXPECT_EQ(run.state(0), "DONE");
  EXPECT_EQ(run.task(0).attempts, 21u);
}

TEST(GraphMachine, an_epoch_begins_when_the_one_before_it_is_done) {
  GraphRun run;
  const Plan plan =
      plan_of(graph(R"({"name":"c"},{"name":"a"},{"name":"b"})",
                    R"({"schedule_hint":{"node_execution_order":[["a","b"],["c"]]}})"));
  run.submit(plan);
  EXPECT_EQ(run.graph().frontier, 0u);
  EXPECT_EQ(run.ready(), (Keys{"g/0", "g/1"}));
  run.done("g/0");
  EXPECT_EQ(run.ready(), Keys{"g/1"});
  run.reopen();
  run.done("g/1");
  EXPECT_EQ(run.graph().frontier, 1u);
  EXPECT_EQ(run.ready(), Keys{"g/3"});
  run.done("g/3");
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone);
  EXPECT_EQ(run.graph().frontier, 2u);
  run.expect_replays();
}

TEST(GraphMachine, a_failure_fails_later_epochs_but_not_its_own) {
  GraphRun run;
  const Plan plan =
      plan_of(graph(R"({"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"})",
                    R"({"schedule_hint":{"node_execution_order":[["a","b"],["c"],["d"]]}})"));
  run.submit(plan);
  run.failed("g/0");
  EXPECT_EQ(run.states(plan), (Lines{"a FAILED", "b PENDING", "epoch 1 FAILED", "c FAILED",
                                     "epoch 2 FAILED", "d FAILED"}));
  EXPECT_EQ(run.task(5).ended_with, (EndedWith{Ending::kEarlierEpoch, 0, "a"}));
  run.done("g/1");
  EXPECT_EQ(run.graph().failed, 3u);
  EXPECT_EQ(run.graph().done, 1u);
  EXPECT_EQ(run.graph().phase, GraphPhase::kEnded);
}

TEST(GraphMachine, a_foreach_runs_its_elements_and_joins_them) {
  GraphRun run;
  const Plan plan = plan_of(
      graph(R"({"name":"shard","foreach":[1,2,3]},{"name":"merge","dependsOn":["shard"]})"));
  run.submit(plan);
  EXPECT_EQ(run.ready(), (Keys{"g/0", "g/1", "g/2"}));
  for (const char* key : {"g/0", "g/1", "g/2"}) run.done(key);
  EXPECT_EQ(run.ready(), Keys{"g/4"});
  run.done("g/4");
  EXPECT_EQ(run.graph().done, 4u);
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone);
}

TEST(GraphMachine, a_condition_that_does_not_hold_skips_the_task_and_its_dependents_run) {
  GraphRun run;
  const Plan plan = plan_of(graph(
      R"({"name":"judge"},
         {"name":"yes","dependsOn":["judge"],
          "spec":{"condition":{"node":"judge","field":"ok","equals":true}}},
         {"name":"no","dependsOn":["judge"],
          "spec":{"condition":{"node":"judge","field":"ok","equals":false}}},
         {"name":"after","dependsOn":["no"]})"));
  run.submit(plan);
  run.done("g/0", R"({"ok":true})");
  EXPECT_EQ(run.ready(), (Keys{"g/1", "g/3"}));
  EXPECT_EQ(run.state(2), "SKIPPED");
  EXPECT_EQ(run.result(2), R"({"metadata":{"skipped":true}})");
  run.done("g/1");
  run.done("g/3");
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone);
  EXPECT_EQ(run.graph().skipped, 1u);
  run.expect_replays();
}

TEST(GraphMachine, cancelling_a_graph_ends_what_waits_and_stops_what_is_open) {
  GraphRun run;
  const Plan plan = plan_of(kDiamondDocument);
  run.submit(plan);
  run.done("g/0");
  run.cancel();
  EXPECT_EQ(run.states(plan),
            (Lines{"top DONE", "left CANCELLED", "right CANCELLED", "bottom CANCELLED"}));
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kCancelled);
  EXPECT_EQ(run.graph().cancel_reason, "no longer needed");
  EXPECT_EQ(run.graph().cancelled_by, "ops");
  EXPECT_EQ(run.world().open_intents(), 0u);
  run.expect_replays();
}

TEST(GraphMachine, cancelling_one_task_takes_its_descendants_and_nobody_else) {
  GraphRun run;
  const Plan plan = plan_of(kDiamondDocument);
  run.submit(plan);
  run.done("g/0");
  run.cancel_task(1);
  EXPECT_EQ(run.states(plan),
            (Lines{"top DONE", "left CANCELLED", "right PENDING", "bottom CANCELLED"}));
  run.done("g/2");
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kCancelled);
}

TEST(GraphMachine, what_has_ended_stays_as_it_is) {
  GraphRun run;
  const Plan plan = plan_of(kChainDocument);
  run.submit(plan);
  run.done("g/0");
  run.cancel_task(0);
  EXPECT_EQ(run.state(0), "DONE");
  EXPECT_EQ(run.ready(), Keys{"g/1"});
}

TEST(GraphMachine, half_a_graph_never_runs_and_goes_when_its_time_is_over) {
  std::string nodes = R"({"name":"n0"})";
  for (int i = 1; i < 500; ++i) nodes += R"(,{"name":"n)" + std::to_string(i) + "\"}";
  const Plan plan = plan_of(graph(nodes));
  GraphRun run;
  codec::Buffer header;
  write_header(header, header_of(plan));
  TaskIndex next = 0;
  codec::Buffer opened;
  write_opened(opened, "g", header.view(), part_from(plan, next), false);
  ASSERT_TRUE(run.send(defs::kGraphWorkflow, kGraphOpened, "g", opened, true));
  EXPECT_EQ(run.ready(), Keys{});
  run.seal();  // too early
  EXPECT_EQ(run.graph().phase, GraphPhase::kIntake);
  const base::Bytes second = part_from(plan, next);
  run.send_part(second);
  run.send_part(second);  // again: nothing happens
  EXPECT_EQ(run.graph().intake.next(), next);
  codec::Buffer fired;
  codec::write_map_head(fired, 2);
  codec::write_text(fired, "key");
  codec::write_null(fired);
  codec::write_text(fired, "delivered_at_ns");
  codec::write_nat(fired, 1);
  run.receipt(run.timers().at("g"), fired);
  EXPECT_FALSE(run.has_graph());
  for (const TaskIndex task : {0u, 199u, 200u, 399u}) EXPECT_EQ(run.state(task), "gone") << task;
  run.expect_replays();
  run.submit(plan);  // the id may begin again
  EXPECT_EQ(run.ready().size(), 500u);
}

TEST(GraphMachine, a_message_to_a_task_that_is_not_there_leaves_nothing) {
  GraphRun run;
  run.cancel_task(7);
  EXPECT_EQ(run.state(7), "gone");
  EXPECT_FALSE(run.has_graph());
}

TEST(GraphMachine, more_dependents_than_one_turn_tells_all_hear_of_it) {
  std::string nodes = R"({"name":"top"})";
  for (int i = 0; i < 1000; ++i)
    nodes += R"(,{"name":"n)" + std::to_string(i) + R"(","dependsOn":["top"]})";
  const Plan plan = plan_of(graph(nodes));
  GraphRun run;
  run.submit(plan);
  run.done("g/0");
  EXPECT_EQ(run.ready().size(), 1000u);
  EXPECT_EQ(run.state(0), "DONE");
  run.cancel();
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kCancelled);
  EXPECT_EQ(run.graph().cancelled, 1000u);
  run.expect_replays();
}

TEST(GraphMachine, a_result_that_is_too_large_fails_the_task_and_says_why) {
  GraphRun run;
  run.submit(plan_of(testing::document(R"({"taskType":"echo"})")));
  run.done("g/0", "\"" + std::string(kMaxResultBytes, 'x') + "\"");
  EXPECT_EQ(run.state(0), "FAILED");
  EXPECT_EQ(run.task(0).error->code, kResultTooLarge);
}

TEST(GraphMachine, a_result_of_the_largest_size_is_told_to_many_dependents) {
  std::string nodes = R"({"name":"top"})";
  for (int i = 0; i < 500; ++i)
    nodes += R"(,{"name":"n)" + std::to_string(i) + R"(","dependsOn":["top"]})";
  GraphRun run;
  run.submit(plan_of(graph(nodes)));
  run.done("g/0", "\"" + std::string(kMaxResultBytes - 5, 'x') + "\"");
  EXPECT_EQ(run.state(0), "DONE");
  EXPECT_EQ(run.ready().size(), 500u);
}

TEST(GraphMachine, adopted_results_are_not_run_again) {
  const Plan plan = plan_of(kChainDocument);
  PartWriter writer(0);
  for (TaskIndex i = 0; i < plan.total_count; ++i) {
    codec::Buffer definition;
    write_task(definition, plan.task(i));
    ASSERT_TRUE(writer.add(definition.view(),
                           i < 2 ? testing::part_of_value(R"({"kept":1})") : base::Bytes()));
  }
  codec::Buffer header;
  write_header(header, header_of(plan));
  codec::Buffer opened;
  write_opened(opened, "g", header.view(), writer.take(), true);
  GraphRun run;
  ASSERT_TRUE(run.send(defs::kGraphWorkflow, kGraphOpened, "g", opened, true));
  EXPECT_EQ(run.states(plan), (Lines{"a DONE", "b DONE", "c PENDING"}));
  EXPECT_EQ(run.result(1), R"({"kept":1})");
  EXPECT_EQ(run.ready(), Keys{"g/2"});
  run.done("g/2");
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone);
  run.expect_replays();
}

TEST(GraphMachine, tasks_and_graphs_are_not_cancelled_as_instances) {
  GraphRun run;
  run.submit(plan_of(kChainDocument));
  const base::Bytes key = key_bytes("g/0");
  const auto outcome =
      run.tick(kernel::ControlRequested{kernel::Control::kCancel, defs::kTaskWorkflow, key, ""});
  EXPECT_TRUE(std::holds_alternative<kernel::Refused>(outcome.answer));
  EXPECT_EQ(run.state(0), "PENDING");
}

TEST(GraphMachine, a_world_without_graphs_has_the_snapshot_of_one_that_knows_none) {
  class None : public kernel::MachineSource {
    const kernel::Machine* find(const defs::ModuleDef&, std::string_view) const override {
      return nullptr;
    }
  };
  const None none;
  const testing::SystemMachines system;
  kernel::testing::MemoryBlobs blobs;
  kernel::World before(none, blobs);
  kernel::World after(system, blobs);
  EXPECT_EQ(testing::json_of(*before.snapshot()), testing::json_of(*after.snapshot()));
  const auto restored = kernel::World::restore(system, blobs, *before.snapshot());
  EXPECT_TRUE(restored);
}

}  // namespace
}  // namespace holdfast::tasks
