// SPDX-License-Identifier: Apache-2.0
// Documents of FlowMesh compile unchanged, and mean what they mean there.
#include <gtest/gtest.h>

#include "base/testing.h"
#include "bundle/source.h"
#include "tasks/graph_progress.h"
#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using testing::json_of;
using testing::Lines;
using testing::task_named;
using testing::tasks_of;

class FlowMeshDocuments : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = base::testing::vectors("flowmesh");
    if (!folder_) GTEST_SKIP() << base::testing::kNoVectors;
  }

  Plan load(const char* file) const {
    const auto json = bundle::read_as_json(*folder_ / file);
    EXPECT_TRUE(json) << file;
    return json ? testing::plan_of(*json, {}) : Plan{};
  }

  std::optional<std::filesystem::path> folder_;
};

TEST_F(FlowMeshDocuments, all_of_them_compile) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder_)) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_GT(load(entry.path().filename().c_str()).run_count, 0U) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 6U);
}

TEST_F(FlowMeshDocuments, a_single_task_keeps_its_spec_for_its_executor) {
  const Plan echo = load("echo_local.yaml");
  EXPECT_EQ(echo.owner, "smoke-test");
  EXPECT_EQ(echo.task(0).resources.cpu_milli, 1000U);
  EXPECT_EQ(echo.task(0).resources.memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(codec::View::of(echo.task(0).spec).find("data")->find("type")->text(), "list");
  const Plan ssh = load("ssh_noninteractive.yaml");
  EXPECT_EQ(ssh.task(0).type, "ssh");
  EXPECT_EQ(codec::View::of(ssh.task(0).spec).find("ttlSeconds")->nat(), 3600U);
}

TEST_F(FlowMeshDocuments, a_graph_reads_the_results_of_the_nodes_before) {
  const Plan plan = load("echo_three_node_graph.yaml");
  EXPECT_EQ(tasks_of(plan), (Lines{"echo-a", "echo-b", "echo-merge <- echo-a, echo-b"}));
  testing::Results results(plan);
  results.add("echo-a", R"({"items":[{"output":"literal_from_a"}]})");
  results.add("echo-b", R"({"items":[{"output":"literal_from_b"}]})");
  const auto value = render(task_named(plan, "echo-merge"), results);
  ASSERT_TRUE(value) << value.error().to_string();
  EXPECT_EQ(json_of(codec::View::of(*value).find("data")->encoded()),
            R"({"type":"list","items":["literal_from_a","literal_from_b"]})");
}

TEST_F(FlowMeshDocuments, an_unequal_condition_skips_and_dependents_run) {
  const Plan plan = load("conditional_echo_test.yaml");
  testing::Results results(plan);
  results.add("echo-upstream", R"({"items":[{"output":"skip-me"}]})");
  EXPECT_FALSE(*condition_holds(task_named(plan, "echo-conditional"), results));
  GraphProgress progress(shape_of(plan));
  progress.start();
  progress.done(task_named(plan, "echo-upstream").index);
  const auto skipped = progress.done(task_named(plan, "echo-conditional").index);
  EXPECT_EQ(skipped.ready, std::vector<TaskIndex>{task_named(plan, "echo-always").index});
  const auto value = render(task_named(plan, "echo-always"), results);
  ASSERT_TRUE(value) << value.error().to_string();
  EXPECT_EQ(json_of(codec::View::of(*value).find("data")->find("items")->encoded()),
            R"(["skip-me"])");
}

TEST_F(FlowMeshDocuments, epochs_gate_and_a_failure_reaches_the_end_of_the_chain) {
  const Plan epochs = load("epoch_graph.yaml");
  EXPECT_EQ(epochs.epoch_count, 2U);
  GraphProgress gated(shape_of(epochs));
  gated.start();
  EXPECT_TRUE(gated.done(task_named(epochs, "a").index).ready.empty());
  EXPECT_EQ(gated.done(task_named(epochs, "b").index).ready,
            std::vector<TaskIndex>{task_named(epochs, "c").index});
  const Plan chain = load("chain_with_side.yaml");
  GraphProgress cascade(shape_of(chain));
  cascade.start();
  EXPECT_EQ(cascade.failed(task_named(chain, "a").index).ended.size(), 4U);
  EXPECT_EQ(cascade.state(task_named(chain, "side").index), TaskState::kPending);
}

}  // namespace
}  // namespace holdfast::tasks
