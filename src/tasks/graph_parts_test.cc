// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_parts.h"

#include <gtest/gtest.h>

#include "tasks/task_codec.h"
#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using testing::graph;
using testing::plan_of;

Plan rich_plan() {
  return plan_of(
      graph(R"({"name":"a","spec":{"x":[1,{"y":"z"}]}},{"name":"q"},
      {"name":"s","dependsOn":["a","q"],"foreach":[{"k":1},"two",null],
       "spec":{"taskType":"train","priority":-3,"maxAttempts":-1,"timeout":"5s","preemptible":true,
               "effects":"none","concurrency":{"key":"k","limit":4},
               "resources":{"cpu":2,"memory":"1Gi","gpu":{"type":"A","count":2,"memory":"8Gi"},
                            "labels":{"z":"1","b":"2"},"recipe":"r","queue":"q","estimatedLoad":9},
               "condition":{"node":"a","field":"x[0]","equals":1},"p":"${foreach.item} ${a.x}"}},
      {"name":"e","dependsOn":["s"],"spec":{"all":"${s.v}"}})",
            R"({"owner_note":"n","schedule_hint":{"node_execution_order":[["a","q"],["s"],["e"]],
                           "selected_worker":{"selected":{"s":["w1","w2"]}}}})"));
}

TEST(TaskCodec, a_definition_that_was_written_is_read_as_it_was) {
  const Plan plan = rich_plan();
  for (TaskIndex index = 0; index < plan.total_count; ++index) {
    const TaskDefinition task = plan.task(index);
    codec::Buffer bytes;
    write_task(bytes, task);
    const auto read = read_task(codec::View::of(bytes.view()));
    ASSERT_TRUE(read) << task.name;
    EXPECT_EQ(*read, task) << task.name;
  }
}

TEST(TaskCodec, a_task_of_the_default_queue_has_the_bytes_it_had_before_there_were_queues) {
  const auto bytes_of = [](std::string_view resources) {
    const std::string node = R"({"name":"a","spec":{"resources":)" + std::string(resources) + "}}";
    codec::Buffer bytes;
    write_task(bytes, plan_of(graph(node)).task(0));
    return base::Bytes(bytes.view().begin(), bytes.view().end());
  };
  EXPECT_EQ(bytes_of(R"({"queue":"default"})"), bytes_of("{}"));
  EXPECT_NE(bytes_of(R"({"queue":"other"})"), bytes_of("{}"));
}

TEST(TaskCodec, what_no_plan_makes_is_refused) {
  const Plan plan = rich_plan();
  const auto refuses = [&](auto change) {
    TaskDefinition task = plan.task(3);
    change(task);
    codec::Buffer bytes;
    write_task(bytes, task);
    return !read_task(codec::View::of(bytes.view()));
  };
  EXPECT_FALSE(refuses([](TaskDefinition&) {}));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.dependencies = {{3, 1}}; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.dependents = {{3, 1}}; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.inputs[0].tasks = {7, 1}; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.dependencies = {{0, 0}}; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.dependencies = {{0, 1}, {1, 1}}; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.type.clear(); }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.resources.queue = "default"; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.resources.queue = "a b"; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.name.clear(); }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.kind = TaskKind::kJoin; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.spec = testing::part_of_value("[]"); }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.policy.max_attempts = 0; }));
  EXPECT_TRUE(refuses([](TaskDefinition& task) { task.resources.gpu->count = 0; }));
}

std::vector<base::Bytes> parts_of(const Plan& plan) {
  std::vector<base::Bytes> parts;
  for (TaskIndex next = 0; next < plan.total_count;) parts.push_back(part_from(plan, next));
  return parts;
}

TEST(GraphParts, a_graph_comes_back_whole_from_its_header_and_parts) {
  const Plan plan = rich_plan();
  codec::Buffer bytes;
  write_header(bytes, header_of(plan));
  const auto header = read_header(codec::View::of(bytes.view()));
  ASSERT_TRUE(header) << header.error().to_string();
  EXPECT_EQ(*header, header_of(plan));
  EXPECT_EQ(header->run_count, 6U);
  EXPECT_EQ(header->total_count, 9U);  // and a join, and two gates
  EXPECT_EQ(header->told_start, 2U);
  GraphIntake intake;
  for (const base::Bytes& part : parts_of(plan)) {
    const TaskIndex first = intake.next();
    const auto tasks = intake.add(codec::View::of(part), *header);
    ASSERT_TRUE(tasks) << tasks.error().to_string();
    for (std::uint32_t i = 0; i < tasks->size(); ++i)
      EXPECT_EQ((*tasks)[i].task, plan.task(first + i));
  }
  EXPECT_TRUE(intake.seal(*header));
}

// Some tasks fill a part.
Plan large_plan() {
  std::string nodes;
  for (int i = 0; i < 20; ++i) {
    nodes += (i == 0 ? "" : ",") + std::string(R"({"spec":{"x":")") + std::string(200'000, 'x') +
             std::to_string(i) + "\"}}";
  }
  return plan_of(graph(nodes));
}

TEST(GraphParts, parts_are_bounded_in_bytes_and_in_tasks) {
  const auto parts = parts_of(large_plan());
  EXPECT_EQ(parts.size(), 5U);
  for (const base::Bytes& part : parts) EXPECT_LE(part.size(), kMaxPartBytes);
  std::string nodes = "{}";
  for (std::size_t i = 1; i < 2 * kMaxPartTasks + 1; ++i) nodes += ",{}";
  EXPECT_EQ(parts_of(plan_of(graph(nodes))).size(), 3U);
}

TEST(GraphParts, the_digest_does_not_depend_on_where_parts_are_cut) {
  const Plan plan = large_plan();
  const GraphHeader header = header_of(plan);
  GraphIntake intake;
  for (TaskIndex i = 0; i < plan.total_count; ++i) {
    codec::Buffer definition;
    write_task(definition, plan.task(i));
    PartWriter writer(i);
    ASSERT_TRUE(writer.add(definition.view()));
    ASSERT_TRUE(intake.add(codec::View::of(writer.take()), header));
  }
  EXPECT_TRUE(intake.seal(header));
}

TEST(GraphParts, half_a_graph_is_not_sealed_and_parts_come_in_order_and_once) {
  const Plan plan = large_plan();
  const GraphHeader header = header_of(plan);
  const auto parts = parts_of(plan);
  const auto add = [&](GraphIntake& intake, std::size_t part) {
    return intake.add(codec::View::of(parts[part]), header);
  };
  GraphIntake intake;
  EXPECT_EQ(intake.seal(header).error().to_string(), "0 of 20 tasks have come in");
  ASSERT_TRUE(add(intake, 0));
  const auto again = add(intake, 0);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().to_string(), "the part begins with task 0; task 4 comes next");
  EXPECT_EQ(add(intake, 2).error().code(), base::ErrorCode::kConflict);
  EXPECT_EQ(intake.next(), 4U);
  EXPECT_FALSE(intake.seal(header));
  // What is kept of it is enough to go on later.
  GraphIntake later(intake.next(), intake.digest());
  for (std::size_t i = 1; i < parts.size(); ++i) ASSERT_TRUE(add(later, i));
  EXPECT_TRUE(later.seal(header));
}

TEST(GraphParts, tasks_of_another_graph_are_not_sealed) {
  const Plan plan = plan_of(graph(R"({"spec":{"x":1}})"));
  const Plan other = plan_of(graph(R"({"spec":{"x":2}})"));
  GraphIntake intake;
  ASSERT_TRUE(intake.add(codec::View::of(parts_of(other)[0]), header_of(plan)));
  EXPECT_EQ(intake.seal(header_of(plan)).error().to_string(),
            "the tasks are not those of the header");
}

TEST(GraphParts, tasks_that_nothing_would_start_or_that_name_others_beyond_the_graph_are_refused) {
  const Plan plan = plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a"]})"));
  const base::Bytes part = parts_of(plan)[0];
  GraphHeader header = header_of(plan);
  EXPECT_TRUE(GraphIntake().add(codec::View::of(part), header));
  header.told_start = 0;
  EXPECT_EQ(GraphIntake().add(codec::View::of(part), header).error().to_string(),
            "task 0: nothing would start the task");
  header = header_of(plan);
  header.total_count = 1;
  EXPECT_EQ(GraphIntake().add(codec::View::of(part), header).error().to_string(),
            "task 0: the graph has only 1 tasks");
}

TEST(GraphParts, adopted_results_come_with_their_tasks) {
  const Plan plan = plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a"]})"));
  PartWriter writer(0);
  for (TaskIndex i = 0; i < 2; ++i) {
    codec::Buffer definition;
    write_task(definition, plan.task(i));
    ASSERT_TRUE(
        writer.add(definition.view(), i == 0 ? testing::part_of_value("[1]") : base::Bytes()));
  }
  const base::Bytes part = writer.take();
  const auto tasks = read_part(codec::View::of(part));
  ASSERT_TRUE(tasks) << tasks.error().to_string();
  EXPECT_EQ(testing::json_of((*tasks)[0].adopted), "[1]");
  EXPECT_TRUE((*tasks)[1].adopted.empty());
}

TEST(GraphParts, damaged_bytes_are_refused_and_change_nothing) {
  const Plan plan = rich_plan();
  const GraphHeader header = header_of(plan);
  const base::Bytes part = parts_of(plan)[0];
  std::size_t refused = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    for (const unsigned flip : {0x01U, 0x20U, 0x80U}) {
      base::Bytes damaged = part;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ flip);
      codec::Normaliser normaliser;  // as the kernel does before a machine sees it
      const auto value = normaliser.part_from_cbor(codec::Schema::any(), damaged);
      GraphIntake intake;
      if (value && intake.add(codec::View::of(*value), header)) continue;
      ++refused;
      EXPECT_EQ(intake.next(), 0U);
    }
  }
  EXPECT_GT(refused, part.size());
}

}  // namespace
}  // namespace holdfast::tasks
