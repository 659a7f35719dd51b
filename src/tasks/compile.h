// SPDX-License-Identifier: Apache-2.0
// Compiles a task document: a value in, a plan or everything that is wrong with it out. Pure, and
// in time that grows with the document.
//
// Refused: unknown keys, bad values, duplicate names, self-dependencies, unknown or (for stages)
// later dependencies, cycles, unknown task types, epochs that are no permutation of the nodes or
// contradict dependencies, references to nodes that are not upstream, and whatever passes a bound
// of tasks/limits.h. Each error names its place, such as spec.graph.nodes[3].dependsOn[0].
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "codec/view.h"
#include "tasks/limits.h"
#include "tasks/plan.h"

namespace holdfast::tasks {

struct CompileOptions {
  std::optional<std::vector<std::string>> task_types;  // those that exist; nothing: any
  std::size_t max_tasks = kDefaultMaxTasks;            // at most kMostTasks
};

struct Compiled {
  std::optional<Plan> plan;  // exactly if there are no errors
  base::Errors errors;
};

// `document` is a canonical value of the type `any`.
Compiled compile(codec::View document, const CompileOptions& options = {});

}  // namespace holdfast::tasks
