// SPDX-License-Identifier: Apache-2.0
// TaskDefinition: everything that is known about one task when its graph is submitted. It is what a
// task carries with it; tasks/task_codec.h has its bytes.
//
// A foreach node becomes one task per element and a *join*: a task that no worker runs, which is
// done when all elements are done. Dependents of the node depend on the join, so two foreach nodes
// of n elements each have 2n dependencies between them and not n squared.
//
// Between two epochs stands a *gate*, which is such a task, too: it depends on every task of the
// epoch before it, and every task of the next epoch depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tasks/condition.h"
#include "tasks/policy.h"
#include "tasks/resources.h"

namespace holdfast::tasks {

// The number of a task in its graph. The dependencies of a task have smaller numbers.
using TaskIndex = std::uint32_t;

// Tasks with consecutive numbers.
struct TaskRange {
  TaskIndex first = 0;
  std::uint32_t count = 0;

  TaskIndex end() const noexcept { return first + count; }
  friend bool operator==(const TaskRange&, const TaskRange&) = default;
};

// In increasing order, apart from each other.
using TaskRanges = std::vector<TaskRange>;

std::uint64_t task_count(const TaskRanges& ranges) noexcept;

// Puts ranges in order and joins those that touch or overlap.
void tidy(TaskRanges& ranges);

enum class TaskKind : std::uint8_t { kRun, kJoin, kGate };

// A node whose results the task reads.
struct Input {
  std::string node;
  TaskRange tasks;
  bool is_foreach = false;  // its results are a list, in the order of its elements

  friend bool operator==(const Input&, const Input&) = default;
};

// The element of a foreach that the task is for.
struct Element {
  std::uint32_t index = 0;
  base::Bytes item;  // a canonical value without tag, references unresolved

  friend bool operator==(const Element&, const Element&) = default;
};

struct TaskDefinition {
  TaskIndex index = 0;
  TaskKind kind = TaskKind::kRun;
  // "train"; "shard[3]" for an element; a join has the name of its node, a gate is "epoch 2".
  std::string name;
  std::string type;
  base::Bytes spec;  // for the executor: a canonical mapping without tag, references unresolved
  TaskRanges dependencies;
  TaskRanges dependents;
  std::optional<std::uint32_t> epoch;  // of a gate: the one that it opens
  std::uint32_t position = 0;          // inside an ordered epoch; lower is earlier
  std::vector<std::string> workers;    // the only ones that may run it; empty: all
  Resources resources;
  Policy policy;
  std::optional<Condition> condition;
  std::vector<Input> inputs;  // in order of nodes' names
  std::optional<Element> element;

  friend bool operator==(const TaskDefinition&, const TaskDefinition&) = default;
};

}  // namespace holdfast::tasks
