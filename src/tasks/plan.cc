// SPDX-License-Identifier: Apache-2.0
#include "tasks/plan.h"

#include <algorithm>

#include "base/check.h"

namespace holdfast::tasks {

namespace {

base::Bytes empty_map() { return {0xa0}; }

}  // namespace

NodeIndex Plan::node_of(TaskIndex task) const {
  CHECK(task < total_count);
  const auto behind = std::upper_bound(
      nodes.begin(), nodes.end(), task,
      [](TaskIndex index, const PlanNode& node) { return index < node.first_task; });
  return static_cast<NodeIndex>(behind - nodes.begin() - 1);
}

const PlanGate* Plan::gate_of(TaskIndex task) const {
  const auto found =
      std::lower_bound(gates.begin(), gates.end(), task,
                       [](const PlanGate& gate, TaskIndex index) { return gate.task < index; });
  return found != gates.end() && found->task == task ? &*found : nullptr;
}

TaskRanges Plan::dependencies_of(TaskIndex task) const {
  if (const PlanGate* gate = gate_of(task)) return {gate->before};
  const PlanNode& node = nodes[node_of(task)];
  TaskRanges ranges;
  if (node.is_foreach() && task == node.last_task()) {
    ranges.push_back(node.tasks());
  } else {
    for (const NodeIndex dependency : node.dependencies)
      ranges.push_back({nodes[dependency].last_task(), 1});
  }
  if (node.epoch && *node.epoch > 0) ranges.push_back({gates[*node.epoch - 1].task, 1});
  tidy(ranges);
  return ranges;
}

TaskRanges Plan::dependents_of(TaskIndex task) const {
  if (const PlanGate* gate = gate_of(task)) return {gate->after};
  TaskRanges ranges = dependents_but_gates(task);
  const PlanNode& node = nodes[node_of(task)];
  if (node.epoch && *node.epoch < gates.size()) ranges.push_back({gates[*node.epoch].task, 1});
  tidy(ranges);
  return ranges;
}

TaskRanges Plan::dependents_but_gates(TaskIndex task) const {
  const PlanNode& node = nodes[node_of(task)];
  TaskRanges ranges;
  if (task != node.last_task()) {
    ranges.push_back({node.last_task(), 1});
  } else {
    for (const NodeIndex dependent : node.dependents) ranges.push_back(nodes[dependent].tasks());
  }
  tidy(ranges);
  return ranges;
}

TaskDefinition Plan::task(TaskIndex index) const {
  TaskDefinition task;
  task.index = index;
  if (const PlanGate* gate = gate_of(index)) {
    task.kind = TaskKind::kGate;
    task.name = "epoch " + std::to_string(gate->epoch);
    task.spec = empty_map();
    task.dependencies = {gate->before};
    task.dependents = {gate->after};
    task.epoch = gate->epoch;
    return task;
  }
  const PlanNode& node = nodes[node_of(index)];
  task.name = node.name;
  task.epoch = node.epoch;
  task.position = node.position;
  task.dependencies = dependencies_of(index);
  task.dependents = dependents_of(index);
  if (node.is_foreach() && index == node.last_task()) {
    task.kind = TaskKind::kJoin;
    task.spec = empty_map();
    return task;
  }
  task.type = node.type;
  task.spec = node.spec;
  task.workers = node.workers;
  task.resources = node.resources;
  task.policy = node.policy;
  task.condition = node.condition;
  for (const NodeIndex input : node.inputs) {
    const PlanNode& read = nodes[input];
    task.inputs.push_back({read.name, read.tasks(), read.is_foreach()});
  }
  if (node.is_foreach()) {
    const std::uint32_t element = index - node.first_task;
    task.name += "[" + std::to_string(element) + "]";
    task.element = Element{element, (*node.elements)[element]};
  }
  return task;
}

}  // namespace holdfast::tasks
