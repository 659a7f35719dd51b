// SPDX-License-Identifier: Apache-2.0
// Random documents and random facts: graphs in a world, task by task, against the rules for a whole
// graph (tasks/graph_progress.h). The world is opened from its snapshot now and then, and its
// journal must give the same world again.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tasks/testing_run.h"

namespace holdfast::tasks {
namespace {

// Nodes that depend on some before them, some with elements, perhaps in epochs.
std::string random_document() {
  const int count = *rc::gen::inRange(1, 9);
  const bool has_epochs = *rc::gen::arbitrary<bool>();
  std::string nodes;
  std::vector<int> epochs;
  std::vector<std::string> order;
  for (int i = 0; i < count; ++i) {
    std::string depends;
    int epoch = 0;
    for (int j = 0; j < i; ++j) {
      if (*rc::gen::inRange(0, 3) != 0) continue;
      depends += (depends.empty() ? "\"n" : ",\"n") + std::to_string(j) + "\"";
      epoch = std::max(epoch, epochs[static_cast<std::size_t>(j)]);
    }
    epoch = *rc::gen::inRange(epoch, static_cast<int>(order.size()) + 1);
    epochs.push_back(epoch);
    if (epoch == static_cast<int>(order.size())) order.emplace_back();
    std::string& names = order[static_cast<std::size_t>(epoch)];
    names += (names.empty() ? "\"n" : ",\"n") + std::to_string(i) + "\"";
    const int elements = *rc::gen::inRange(0, 4);
    std::string foreach;
    for (int e = 0; e < elements; ++e)
      foreach
        += (e == 0 ? "" : ",") + std::to_string(e);
    nodes += (i == 0 ? "" : ",") + std::string(R"({"name":"n)") + std::to_string(i) +
             R"(","dependsOn":[)" + depends + "]" +
             (elements == 0 ? "" : R"(,"foreach":[)" + foreach + "]") + "}";
  }
  std::string hint;
  for (const std::string& names : order) hint += (hint.empty() ? "[" : ",[") + names + "]";
  return testing::graph(nodes, has_epochs ? R"({"schedule_hint":{"node_execution_order":[)" + hint +
                                                R"(],"node_schedule_in_epoch_order":false}})"
                                          : "");
}

std::string word_for(TaskState state) {
  switch (state) {
    case TaskState::kDone: return "DONE";
    case TaskState::kFailed: return "FAILED";
    case TaskState::kCancelled: return "CANCELLED";
    default: return "PENDING";
  }
}

RC_GTEST_PROP(GraphMachineProperty, a_graph_of_instances_follows_the_rules_of_graphs, ()) {
  const Plan plan = testing::plan_of(random_document());
  GraphProgress rules(shape_of(plan));
  testing::GraphRun run;
  run.submit(plan);
  rules.start();
  for (int step = 0; step < 40; ++step) {
    std::set<std::string> ready;
    for (TaskIndex task = 0; task < plan.total_count; ++task) {
      if (rules.is_ready(task)) ready.insert(task_key("g", task));
      if (plan.gate_of(task) != nullptr) continue;
      RC_ASSERT(run.state(task) == word_for(rules.state(task)));
    }
    RC_ASSERT(run.ready() == ready);
    const GraphCell graph = run.graph();
    RC_ASSERT(graph.done == rules.counts().done);
    RC_ASSERT(graph.failed == rules.counts().failed);
    RC_ASSERT(graph.cancelled == rules.counts().cancelled);
    RC_ASSERT(graph.verdict() == rules.verdict());
    if (plan.epoch_count > 0 && graph.failed + graph.cancelled == 0)
      RC_ASSERT(graph.frontier == *rules.frontier());
    const int fact = *rc::gen::inRange(0, 12);
    if (fact == 0) run.reopen();
    if (fact == 1 && *rc::gen::inRange(0, 4) == 0) {
      run.cancel();
      rules.cancel_all();
    }
    const TaskIndex any = *rc::gen::inRange<TaskIndex>(0, plan.total_count);
    if (fact == 2 && plan.task(any).kind == TaskKind::kRun) {
      run.cancel_task(any);
      rules.cancel(any);
    }
    if (fact < 3 || ready.empty()) continue;
    const std::string key = *rc::gen::elementOf(ready);
    const TaskIndex task = parse_task_key(key)->number;
    if (fact == 3) {
      run.failed(key);
      rules.failed(task);
    } else {
      run.done(key);
      rules.done(task);
    }
  }
  run.expect_replays();
}

}  // namespace
}  // namespace holdfast::tasks
