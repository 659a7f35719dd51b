// SPDX-License-Identifier: Apache-2.0
// GraphMachine: the code of sys/Graph@1, which is one graph of tasks, with its id as key.
//
// 1. Until it is sealed it takes in parts and makes a task of each definition; nothing runs. A
//    part that does not fit changes nothing: whoever sends parts looks at the state. A graph that
//    is not sealed within an hour, or is cancelled before, goes with all its tasks.
// 2. Sealed, it tells the tasks at its front to start, and then counts what they report. It holds
//    no tasks and knows no dependencies: tasks tell each other.
// 3. Cancelled, it tells every task. It ends when all of its tasks have ended.
//
// It tells kToldPerTurn tasks in a turn, and takes another turn for the next ones.
#pragma once

#include "kernel/machine.h"

namespace holdfast::tasks {

// The code of the error that a graph ends with if a task of it failed.
inline constexpr std::string_view kGraphFailed = "graph.failed";

class GraphMachine : public kernel::Machine {
 public:
  void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;
};

}  // namespace holdfast::tasks
