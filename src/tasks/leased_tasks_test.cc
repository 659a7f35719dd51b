// SPDX-License-Identifier: Apache-2.0
// Tasks and leases together: what an execution costs, who is avoided, and that a cancellation wins.
#include <gtest/gtest.h>

#include "kernel/lease_list.h"
#include "tasks/testing_run.h"

namespace holdfast::tasks {
namespace {

using kernel::ReceiptStatus;
using testing::GraphRun;
using testing::plan_of;
using Keys = std::set<std::string>;

class LeasedTasks : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* worker : {"w1", "w2"})
      run_.tick(kernel::WorkerEnrolled{worker, "node", worker, base::Hash(), {}});
  }

  // The dispatch.
  std::uint64_t lease(const std::string& key, std::string_view worker, bool fails_if_lost = false) {
    codec::Buffer list;
    kernel::write_lease_list(list, {{run_.runs().at(key), {}, {}, fails_if_lost}});
    const kernel::Outcome outcome = run_.tick(kernel::Leased{worker, list.view()});
    const auto* accepted = std::get_if<kernel::Accepted>(&outcome.answer);
    EXPECT_TRUE(accepted != nullptr && accepted->verdicts.size() == 1) << key;
    return accepted == nullptr ? 0 : accepted->verdicts.at(0).dispatch;
  }

  void lose(std::string_view worker) {
    run_.tick(kernel::WorkerChanged{worker, kernel::WorkerChange::kLose, "no heartbeat"});
    run_.settle_down();
    run_.tick(kernel::WorkerEnrolled{worker, "node", worker, base::Hash(), {}});
  }

  void report(const base::Hash& intent, std::string_view worker, std::uint64_t dispatch,
              ReceiptStatus status, std::string_view json) {
    const base::Bytes payload = testing::part_of_value(json);
    kernel::ReceiptArrived receipt{intent, status, payload, {}, {}};
    receipt.fence = {worker, dispatch};
    run_.runs().erase(key_of(intent));
    run_.tick(receipt);
    run_.settle_down();
  }
  void report_error(const std::string& key, std::string_view worker, std::uint64_t dispatch) {
    report(run_.runs().at(key), worker, dispatch, ReceiptStatus::kError,
           R"({"code":"x","message":"it broke","retryable":true,"details":null})");
  }
  std::string key_of(const base::Hash& intent) {
    for (const auto& [key, open] : run_.runs()) {
      if (open == intent) return key;
    }
    return {};
  }

  GraphRun run_;
};

TEST_F(LeasedTasks, an_error_and_a_lost_worker_spend_one_attempt_each) {
  run_.submit(plan_of(testing::document(R"({"taskType":"echo","maxAttempts":4})")));
  lease("g/0", "w1");
  lose("w1");
  EXPECT_EQ(run_.ready(), Keys{"g/0"}) << "it keeps its identity";
  report_error("g/0", "w2", lease("g/0", "w2"));
  EXPECT_EQ(run_.task(0).attempts, 2u);
  EXPECT_EQ(run_.task(0).avoid, std::vector<std::string>{"w2"});
  EXPECT_EQ(run_.task(0).error->worker, "w2");
  EXPECT_NE(run_.params("g/0").find(R"("attempt":3)"), std::string::npos) << run_.params("g/0");
  EXPECT_NE(run_.params("g/0").find(R"("avoid":["w2"])"), std::string::npos);
  run_.expect_replays();
}

TEST_F(LeasedTasks, a_task_that_must_not_run_twice_fails_with_its_worker) {
  run_.submit(plan_of(testing::document(R"({"taskType":"echo","effects":"external"})")));
  lease("g/0", "w1", true);
  lose("w1");
  EXPECT_EQ(run_.state(0), "FAILED");
  EXPECT_EQ(run_.task(0).error->code, kernel::kWorkerLost);
  EXPECT_EQ(run_.task(0).attempts, 1u);
}

TEST_F(LeasedTasks, a_report_of_an_earlier_dispatch_changes_nothing) {
  run_.submit(plan_of(testing::document(R"({"taskType":"echo"})")));
  const base::Hash intent = run_.runs().at("g/0");
  const std::uint64_t first = lease("g/0", "w1");
  lose("w1");
  const std::uint64_t second = lease("g/0", "w2");
  const std::size_t records = run_.journal().size();
  report(intent, "w1", first, ReceiptStatus::kOk, R"({"result":1})");
  EXPECT_EQ(run_.journal().size(), records);
  EXPECT_EQ(run_.state(0), "PENDING");
  report(intent, "w2", second, ReceiptStatus::kOk, R"({"result":2})");
  EXPECT_EQ(run_.result(0), "2");
  EXPECT_EQ(run_.task(0).attempts, 2u);
}

TEST_F(LeasedTasks, what_is_cancelled_while_it_runs_ends_cancelled_whatever_its_worker_says) {
  for (const ReceiptStatus status : {ReceiptStatus::kOk, ReceiptStatus::kError}) {
    const std::string id = status == ReceiptStatus::kOk ? "ok" : "error";
    run_.submit(plan_of(testing::stages(R"({"name":"a"},{"name":"b"})")), id);
    const base::Hash intent = run_.runs().at(id + "/0");
    const std::uint64_t dispatch = lease(id + "/0", "w1");
    run_.cancel(id);
    EXPECT_EQ(run_.state(0, id), "CANCELLING");
    EXPECT_EQ(run_.state(1, id), "CANCELLED");
    EXPECT_EQ(run_.graph(id).phase, GraphPhase::kRunning);
    run_.reopen();
    report(intent, "w1", dispatch, status,
           status == ReceiptStatus::kOk
               ? R"({"result":1})"
               : R"({"code":"x","message":"m","retryable":true,"details":null})");
    EXPECT_EQ(run_.state(0, id), "CANCELLED") << id;
    EXPECT_EQ(run_.graph(id).verdict(), GraphVerdict::kCancelled) << id;
  }
  run_.expect_replays();
}

TEST_F(LeasedTasks, what_is_cancelled_ends_with_its_worker) {
  run_.submit(plan_of(testing::document(R"({"taskType":"echo"})")));
  lease("g/0", "w1");
  run_.cancel_task(0);
  EXPECT_EQ(run_.state(0), "CANCELLING");
  lose("w1");
  EXPECT_EQ(run_.state(0), "CANCELLED");
  EXPECT_EQ(run_.world().open_intents(), 0u);
}

}  // namespace
}  // namespace holdfast::tasks
