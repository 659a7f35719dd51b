// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using testing::document;
using testing::graph;
using testing::json_of;
using testing::Lines;
using testing::plan_of;
using testing::stages;
using testing::task_named;
using testing::tasks_of;

TEST(Compile, a_spec_without_stages_or_graph_is_one_task) {
  const Plan plan = plan_of(document(R"({"taskType":"echo","data":{"items":["x"]}})"));
  EXPECT_EQ(tasks_of(plan), Lines{"task"});
  EXPECT_EQ(plan.name, "w");
  EXPECT_EQ(plan.kind, "Workflow");
  EXPECT_EQ(plan.task(0).type, "echo");
  EXPECT_EQ(json_of(plan.task(0).spec), R"({"data":{"items":["x"]}})");
}

TEST(Compile, stages_form_a_chain_unless_they_say_what_they_depend_on) {
  EXPECT_EQ(tasks_of(plan_of(stages(R"({"name":"a"},{"name":"b"},{"name":"c","dependsOn":[]},
                                       {"name":"d","dependsOn":["a","b"]})"))),
            (Lines{"a", "b <- a", "c <- b", "d <- a, b"}));
}

TEST(Compile, graph_nodes_depend_on_what_they_say_and_nothing_else) {
  EXPECT_EQ(
      tasks_of(plan_of(graph(R"({"name":"a"},{"name":"b"},{"name":"c","dependsOn":["a","b"]})"))),
      (Lines{"a", "b", "c <- a, b"}));
}

TEST(Compile, tasks_stand_behind_what_they_depend_on_and_otherwise_as_in_the_document) {
  EXPECT_EQ(tasks_of(plan_of(graph(R"({"name":"z","dependsOn":["m"]},{"name":"b"},{"name":"m"},
                                      {"name":"a"})"))),
            (Lines{"b", "m", "z <- m", "a"}));
}

TEST(Compile, a_dependency_that_is_named_twice_counts_once) {
  EXPECT_EQ(tasks_of(plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a","a"]})"))),
            (Lines{"a", "b <- a"}));
}

TEST(Compile, nodes_without_a_name_get_their_position) {
  EXPECT_EQ(tasks_of(plan_of(graph(R"({},{"id":"x"},{"dependsOn":["node-1"]})"))),
            (Lines{"node-1", "x", "node-3 <- node-1"}));
  EXPECT_EQ(tasks_of(plan_of(stages("{},{}"))), (Lines{"stage-1", "stage-2 <- stage-1"}));
}

TEST(Compile, the_template_is_merged_under_each_node) {
  const Plan plan = plan_of(document(R"({
      "taskType":"echo","output":{"type":"http","files":["a","b"]},"keep":1,
      "graph":{"nodes":[{"name":"a","spec":{"output":{"files":["c"],"x":{"y":1}}}},
                        {"name":"b","spec":{"taskType":"http","output":"none"}},{"name":"c"}]}})"));
  EXPECT_EQ(json_of(task_named(plan, "a").spec),
            R"({"keep":1,"output":{"x":{"y":1},"type":"http","files":["c"]}})");
  EXPECT_EQ(json_of(task_named(plan, "b").spec), R"({"keep":1,"output":"none"})");
  EXPECT_EQ(task_named(plan, "b").type, "http");
  EXPECT_EQ(json_of(task_named(plan, "c").spec),
            R"({"keep":1,"output":{"type":"http","files":["a","b"]}})");
}

TEST(Compile, a_mapping_with_many_keys_is_merged_in_canonical_form) {
  std::string below;
  std::string above;
  for (int i = 0; i < 20; ++i) {
    below += (i == 0 ? "" : ",") + std::string("\"a") + std::to_string(i) + "\":0";
    above += (i == 0 ? "" : ",") + std::string("\"b") + std::to_string(i) + "\":1";
  }
  const Plan plan = plan_of(document(R"({"taskType":"echo","m":{)" + below +
                                     R"(},"graph":{"nodes":[{"spec":{"m":{)" + above + "}}}]}}"));
  // Reading it again strictly shows that it is canonical: forty keys need a longer head than
  // twenty.
  const base::Bytes again = testing::part_of_value(json_of(plan.task(0).spec));
  EXPECT_EQ(plan.task(0).spec, again);
}

TEST(Compile, the_dispatcher_takes_its_keys_out_of_the_spec) {
  const Plan plan = plan_of(document(R"({"taskType":"train","priority":7,
      "concurrency":{"key":"db","limit":2},"maxAttempts":-1,"timeout":"90s","queueTimeout":"1h30m",
      "effects":"external","replayable":true,"preemptible":true,"mine":true,
      "resources":{"hardware":{"cpu":"500m","memory":"256Mi"},"gpu":{"type":"H100","count":2,"memory":"80GB"},
                   "labels":{"zone":"eu","disk":"ssd"},"recipe":"llama","queue":"gpu","estimatedLoad":5}})"));
  const TaskDefinition task = plan.task(0);
  EXPECT_EQ(json_of(task.spec), R"({"mine":true})");
  Policy policy;
  policy.priority = 7;
  policy.concurrency = Concurrency{"db", 2};
  policy.max_attempts = std::nullopt;
  policy.timeout_ns = 90'000'000'000;
  policy.queue_timeout_ns = std::uint64_t{5400} * 1'000'000'000;
  policy.effects = Effects::kExternal;
  policy.replayable = true;
  policy.preemptible = true;
  EXPECT_EQ(task.policy, policy);
  Resources resources;
  resources.cpu_milli = 500;
  resources.memory_bytes = std::uint64_t{256} << 20;
  resources.gpu = Gpu{"H100", 2, 80'000'000'000};
  resources.labels = {{"disk", "ssd"}, {"zone", "eu"}};
  resources.recipe = "llama";
  resources.queue = "gpu";
  resources.estimated_load = 5;
  EXPECT_EQ(task.resources, resources);
}

TEST(Compile, a_task_that_says_nothing_has_three_attempts_and_may_run_again) {
  const TaskDefinition task = plan_of(document(R"({"taskType":"echo"})")).task(0);
  EXPECT_EQ(task.policy.max_attempts, 3U);
  EXPECT_EQ(task.policy.effects, Effects::kIdempotent);
  EXPECT_TRUE(may_run_again(task.policy));
  EXPECT_EQ(task.resources, Resources());
  const auto lost = [](std::string_view more) {
    return may_run_again(
        plan_of(document(R"({"taskType":"echo","effects":"external")" + std::string(more) + "}"))
            .task(0)
            .policy);
  };
  EXPECT_FALSE(lost(""));
  EXPECT_TRUE(lost(R"(,"replayable":true)"));
}

TEST(Compile, a_foreach_makes_one_task_per_element_and_a_join_that_others_depend_on) {
  const Plan plan = plan_of(graph(R"({"name":"a"},
      {"name":"shard","dependsOn":["a"],"foreach":["x",{"k":2},3]},
      {"name":"merge","dependsOn":["shard"],"foreach":[0,1]},{"name":"end","dependsOn":["merge","a"]})"));
  EXPECT_EQ(tasks_of(plan), (Lines{"a", "shard[0] <- a", "shard[1] <- a", "shard[2] <- a",
                                   "join shard <- shard[0], shard[1], shard[2]",
                                   "merge[0] <- join shard", "merge[1] <- join shard",
                                   "join merge <- merge[0], merge[1]", "end <- a, join merge"}));
  EXPECT_EQ(plan.run_count, 7U);
  EXPECT_EQ(plan.total_count, 9U);
  EXPECT_EQ(plan.dependency_count, 3U + 3 + 2 + 2 + 2);
  const TaskDefinition second = task_named(plan, "shard[1]");
  EXPECT_EQ(second.element->index, 1U);
  EXPECT_EQ(json_of(second.element->item), R"({"k":2})");
  EXPECT_EQ(second.dependents, (TaskRanges{{4, 1}}));
  EXPECT_EQ(task_named(plan, "shard", TaskKind::kJoin).dependents, (TaskRanges{{5, 2}}));
  EXPECT_EQ(task_named(plan, "a").dependents, (TaskRanges{{1, 3}, {8, 1}}));
}

TEST(Compile, two_wide_foreach_nodes_behind_each_other_stay_linear) {
  std::string elements = "0";
  for (int i = 1; i < 40'000; ++i) elements += "," + std::to_string(i);
  const Plan plan =
      plan_of(graph(R"({"name":"a","foreach":[)" + elements +
                    R"(]},{"name":"b","dependsOn":["a"],"foreach":[)" + elements + "]}"));
  EXPECT_EQ(plan.run_count, 80'000U);
  EXPECT_EQ(plan.dependency_count, 120'000U);
}

TEST(Compile, epochs_and_order_bind_graph_nodes_and_stages) {
  const char* const hint =
      R"({"schedule_hint":{"node_execution_order":[["b","a"],["c"]]},"note":"x"})";
  for (const std::string& text :
       {graph(R"({"name":"a"},{"name":"b"},{"name":"c","dependsOn":["a"]})", hint),
        stages(R"({"name":"b"},{"name":"a"},{"name":"c"})", hint)}) {
    const Plan plan = plan_of(text);
    EXPECT_EQ(plan.epoch_count, 2U);
    EXPECT_TRUE(plan.is_ordered);
    EXPECT_EQ(task_named(plan, "b").epoch, 0U);
    EXPECT_EQ(task_named(plan, "b").position, 0U);
    EXPECT_EQ(task_named(plan, "a").epoch, 0U);
    EXPECT_EQ(task_named(plan, "a").position, 1U);
    EXPECT_EQ(task_named(plan, "c").epoch, 1U);
    EXPECT_EQ(json_of(plan.annotations), R"({"note":"x"})");
  }
}

TEST(Compile, a_flat_order_is_one_epoch_and_order_can_be_turned_off) {
  const std::string nodes = R"({"name":"a"},{"name":"b"})";
  const Plan flat =
      plan_of(graph(nodes, R"({"schedule_hint":{"node_execution_order":["b","a"]}})"));
  EXPECT_EQ(flat.epoch_count, 1U);
  EXPECT_EQ(task_named(flat, "a").position, 1U);
  const Plan free = plan_of(graph(nodes, R"({"schedule_hint":{"node_execution_order":[["b","a"]],
                                             "node_schedule_in_epoch_order":false}})"));
  EXPECT_FALSE(free.is_ordered);
}

TEST(Compile, selected_workers_are_for_all_nodes_or_for_one) {
  const auto workers = [](std::string_view selected) {
    const Plan plan =
        plan_of(graph(R"({"name":"a"},{"name":"b"})",
                      R"({"schedule_hint":{"selected_worker":)" + std::string(selected) + "}}"));
    return std::pair(task_named(plan, "a").workers, task_named(plan, "b").workers);
  };
  EXPECT_EQ(workers(R"("w1")"), std::pair(Lines{"w1"}, Lines{"w1"}));
  EXPECT_EQ(workers(R"(["w1","w2","w1"])"), std::pair(Lines({"w1", "w2"}), Lines({"w1", "w2"})));
  EXPECT_EQ(workers(R"({"global":"w1","selected":{"b":["w2"]}})"),
            std::pair(Lines{"w1"}, Lines{"w2"}));
  EXPECT_EQ(workers(R"({"selected":{"a":"w3"}})"), std::pair(Lines{"w3"}, Lines{}));
}

TEST(Compile, what_a_task_reads_is_listed_once_by_name) {
  const Plan plan = plan_of(graph(R"({"name":"b"},{"name":"a","foreach":[1,2]},
      {"name":"mid","dependsOn":["a","b"]},
      {"name":"end","dependsOn":["mid"],"spec":{"x":"${b.v} ${a[1].v}","y":{"node":"a","path":"v"},
       "condition":{"node":"mid","field":"ok","equals":true}}})"));
  const TaskDefinition end = task_named(plan, "end");
  EXPECT_EQ(end.inputs, (std::vector<Input>{
                            {"a", {1, 2}, true}, {"b", {0, 1}, false}, {"mid", {4, 1}, false}}));
  EXPECT_EQ(end.condition, (Condition{"mid", "ok", "true"}));
}

TEST(Compile, a_far_reference_may_reach_over_any_number_of_nodes) {
  std::string nodes = R"({"name":"n0"})";
  for (int i = 1; i < 3000; ++i) {
    nodes += R"(,{"name":"n)" + std::to_string(i) + R"(","dependsOn":["n)" + std::to_string(i - 1) +
             R"("],"spec":{"x":"${n)" + std::to_string(i / 2) + R"(.v}"}})";
  }
  // n1 would read n0, n0 reads nothing: n(i/2) is upstream of n(i) in all of them.
  EXPECT_EQ(testing::errors_of(graph(nodes)), Lines{});
}

TEST(Compile, at_most_twenty_errors_are_kept_and_the_rest_is_counted) {
  std::string nodes;
  for (int i = 0; i < 30; ++i) nodes += std::string(i == 0 ? "" : ",") + R"({"oops":1})";
  const Lines errors = testing::errors_of(graph(nodes));
  ASSERT_EQ(errors.size(), kMaxProblems + 1);
  EXPECT_EQ(
      errors.front(),
      "spec.graph.nodes[0].oops: unknown key 'oops'; allowed: name, id, dependsOn, foreach, spec");
  EXPECT_EQ(errors.back(), "and 10 more errors");
}

TEST(Compile, a_mistake_in_the_template_is_told_once_at_its_place) {
  EXPECT_EQ(testing::errors_of(document(
                R"({"taskType":"echo","timeout":5,"graph":{"nodes":[{},{},{"spec":{"x":1}}]}})")),
            Lines{"spec.timeout: expected a duration up to 366 days, such as 90s or 1h30m"});
}

}  // namespace
}  // namespace holdfast::tasks
