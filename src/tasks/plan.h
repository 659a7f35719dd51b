// SPDX-License-Identifier: Apache-2.0
// Plan: a document that was checked and compiled. Its nodes stand in an order in which every node
// comes after those it depends on; among those that could come next, the first of the document
// does. If there are epochs, their nodes stand together. A node is one task, or one task per
// element of its foreach and the join behind them; the tasks of a node have consecutive numbers.
// The plan holds what the document says once, however many tasks a node has; `task` makes the
// definition of one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tasks/names.h"
#include "tasks/task_definition.h"

namespace holdfast::tasks {

struct PlanNode {
  std::string name;
  std::string type;
  base::Bytes spec;
  std::vector<NodeIndex> dependencies;  // increasing, all smaller than its own
  std::vector<NodeIndex> dependents;    // increasing, all larger
  std::vector<NodeIndex> inputs;        // nodes that it reads, in order of their names
  std::optional<std::uint32_t> epoch;
  std::uint32_t position = 0;
  std::vector<std::string> workers;
  Resources resources;
  Policy policy;
  std::optional<Condition> condition;
  std::optional<std::vector<base::Bytes>> elements;  // of its foreach
  TaskIndex first_task = 0;

  bool is_foreach() const noexcept { return elements.has_value(); }
  // Tasks that workers run.
  TaskRange tasks() const noexcept {
    return {first_task, elements ? static_cast<std::uint32_t>(elements->size()) : 1};
  }
  // The task that is done when the node is: its join, or its only task.
  TaskIndex last_task() const noexcept {
    return elements ? first_task + static_cast<std::uint32_t>(elements->size()) : first_task;
  }
};

// Stands between two epochs. The tasks of an epoch have consecutive numbers.
struct PlanGate {
  TaskIndex task = 0;
  std::uint32_t epoch = 0;  // that it opens
  TaskRange before;         // all tasks of the epoch before it
  TaskRange after;          // all tasks of its epoch
};

struct Plan {
  std::string name;
  std::string owner;
  std::string kind;
  base::Bytes annotations;  // a canonical value without tag
  std::vector<PlanNode> nodes;
  std::vector<PlanGate> gates;    // one for each epoch but the first
  std::uint32_t run_count = 0;    // tasks that workers run
  std::uint32_t total_count = 0;  // those, the joins and the gates
  std::uint64_t dependency_count = 0;
  std::uint32_t epoch_count = 0;
  bool is_ordered = false;  // inside an epoch, lower positions are dispatched first

  NodeIndex node_of(TaskIndex task) const;        // of one that is no gate
  const PlanGate* gate_of(TaskIndex task) const;  // null: it is none
  TaskDefinition task(TaskIndex index) const;
  TaskRanges dependencies_of(TaskIndex task) const;
  TaskRanges dependents_of(TaskIndex task) const;
  TaskRanges dependents_but_gates(TaskIndex task) const;  // of one that is no gate
};

}  // namespace holdfast::tasks
