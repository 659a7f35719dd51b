// SPDX-License-Identifier: Apache-2.0
// What a restart must leave as it was, as short stories: the scenarios that tests/tasks/README.md
// lists, at the level of the machines.
#include <gtest/gtest.h>

#include "kernel/lease_list.h"
#include "tasks/testing_run.h"

namespace holdfast::tasks {
namespace {

using kernel::ReceiptStatus;
using testing::GraphRun;
using testing::plan_of;
using Keys = std::set<std::string>;

kernel::Answer lease_one(GraphRun& run, const base::Hash& intent, std::string_view worker) {
  codec::Buffer list;
  kernel::write_lease_list(list, {{intent, {}, {}, false}});
  return run.tick(kernel::Leased{worker, list.view()}).answer;
}

std::uint64_t dispatch_in(const kernel::Answer& answer) {
  const auto* accepted = std::get_if<kernel::Accepted>(&answer);
  return accepted == nullptr || accepted->verdicts.empty() ? 0 : accepted->verdicts[0].dispatch;
}

kernel::Answer report_ok(GraphRun& run, const base::Hash& intent, std::string_view worker,
                         std::uint64_t dispatch) {
  const base::Bytes payload = testing::part_of_value(R"({"result":{"n":1}})");
  kernel::ReceiptArrived receipt{intent, ReceiptStatus::kOk, payload, {}, {}};
  receipt.fence = {worker, dispatch};
  const kernel::Answer answer = run.tick(receipt).answer;
  run.settle_down();
  return answer;
}

// As the node does it after a restart: what is open is started again.
Keys open_after_restart(GraphRun& run) {
  run.reopen();
  Keys keys;
  const auto visited =
      run.world().visit_intents([&](const base::Hash& hash, const kernel::Intent& intent) {
        const kernel::OpenIntent open = run.world().command_of(hash, intent);
        const std::string key(codec::View::of(open.key).text().value_or(""));
        if (open.effect->name == defs::kTaskRun && (!intent.work || !intent.work->lease))
          keys.insert(key);
        return true;
      });
  EXPECT_TRUE(visited);
  return keys;
}

TEST(RestoredTasks, of_a_chain_whose_first_task_is_done_the_second_is_the_only_one_that_waits) {
  GraphRun run;
  run.submit(plan_of(testing::stages(R"({"name":"a"},{"name":"b"},{"name":"c"})")));
  run.done("g/0");
  EXPECT_EQ(open_after_restart(run), Keys{"g/1"});
  EXPECT_EQ(run.state(0), "DONE");
  EXPECT_EQ(run.state(1), "PENDING");
}

TEST(RestoredTasks, a_task_that_a_worker_holds_is_held_by_it_and_does_not_wait) {
  GraphRun run;
  run.tick(kernel::WorkerEnrolled{"w1", "node", "w1", base::Hash(), {}});
  run.submit(plan_of(testing::document(R"({"taskType":"echo"})")));
  const base::Hash intent = run.runs().at("g/0");
  const std::uint64_t dispatch = dispatch_in(lease_one(run, intent, "w1"));
  ASSERT_NE(dispatch, 0u);
  EXPECT_EQ(open_after_restart(run), Keys{});
  const auto open = run.world().find_intent(intent);
  ASSERT_TRUE(open && *open != nullptr && (*open)->work && (*open)->work->lease);
  EXPECT_EQ((*open)->work->lease->worker, "w1");
  EXPECT_EQ((*open)->work->lease->dispatch, dispatch);
  EXPECT_EQ(dispatch_in(lease_one(run, intent, "w1")), 0u) << "it is not leased again";
  report_ok(run, intent, "w1", dispatch);
  EXPECT_EQ(run.task(0).attempts, 1u);
  EXPECT_EQ(run.state(0), "DONE");
}

TEST(RestoredTasks, the_frontier_stays_where_it_was) {
  GraphRun run;
  const auto order = R"({"schedule_hint":{"node_execution_order":[["a","b"],["c"],["d"]]}})";
  const Plan plan =
      plan_of(testing::graph(R"({"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"})", order));
  run.submit(plan);
  EXPECT_EQ(run.ready(), (Keys{"g/0", "g/1"}));
  run.done("g/0");
  EXPECT_EQ(open_after_restart(run), Keys{"g/1"}) << "half an epoch moves nothing";
  run.done("g/1");
  const Keys next = run.ready();
  EXPECT_EQ(next.size(), 1u);
  EXPECT_EQ(open_after_restart(run), next);
  run.done(*next.begin());
  EXPECT_EQ(run.ready().size(), 1u);
  run.done(*run.ready().begin());
  EXPECT_EQ(run.graph().verdict(), GraphVerdict::kDone);
  run.expect_replays();
}

TEST(RestoredTasks, the_same_success_twice_spends_one_attempt_and_starts_the_next_task_once) {
  GraphRun run;
  run.tick(kernel::WorkerEnrolled{"w1", "node", "w1", base::Hash(), {}});
  run.submit(plan_of(testing::stages(R"({"name":"a"},{"name":"b"})")));
  const base::Hash intent = run.runs().at("g/0");
  const std::uint64_t dispatch = dispatch_in(lease_one(run, intent, "w1"));
  report_ok(run, intent, "w1", dispatch);
  const std::size_t records = run.journal().size();
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) run.reopen();
    const kernel::Answer again = report_ok(run, intent, "w1", dispatch);
    EXPECT_TRUE(std::holds_alternative<kernel::Repeated>(again) ||
                std::holds_alternative<kernel::Unchanged>(again));
  }
  EXPECT_EQ(run.journal().size(), records) << "nothing was recorded";
  EXPECT_EQ(run.task(0).attempts, 1u);
  EXPECT_EQ(open_after_restart(run), Keys{"g/1"});
}

TEST(RestoredTasks, workers_that_failed_a_task_are_still_avoided) {
  GraphRun run;
  run.tick(kernel::WorkerEnrolled{"w1", "node", "w1", base::Hash(), {}});
  run.submit(plan_of(testing::document(R"({"taskType":"echo"})")));
  const base::Hash intent = run.runs().at("g/0");
  const std::uint64_t dispatch = dispatch_in(lease_one(run, intent, "w1"));
  const base::Bytes payload = testing::part_of_value(
      R"({"code":"x","message":"it broke","retryable":true,"details":null})");
  kernel::ReceiptArrived receipt{intent, ReceiptStatus::kError, payload, {}, {}};
  receipt.fence = {"w1", dispatch};
  run.runs().clear();
  run.tick(receipt);
  run.settle_down();
  run.reopen();
  EXPECT_EQ(run.task(0).avoid, std::vector<std::string>{"w1"});
  EXPECT_EQ(open_after_restart(run), Keys{"g/0"});
}

}  // namespace
}  // namespace holdfast::tasks
