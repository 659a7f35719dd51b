// SPDX-License-Identifier: Apache-2.0
// TaskMachine: the code of sys/Task@1, which is one task of a graph, with the key GRAPH/NUMBER.
//
// 1. A task waits until everything that it depends on has ended well; the start of its graph and
//    its epoch count as dependencies. Then its condition is looked at (sys/task.check@1) and it
//    waits for a worker (sys/task.run@1). A join and a gate are done at once.
// 2. An execution that failed spends an attempt, and so does each worker that was lost with it.
//    While attempts are left and the error is retryable, the task waits for a worker again, and
//    avoids those that failed it.
// 3. When a task ends it tells each of its dependents, some in each turn, then its graph, and then
//    its instance ends. One that ends badly takes its dependents with it.
// 4. What has ended changes no more. What is to be cancelled ends cancelled, whatever comes.
//
// Its costs are those of its own messages: it never looks at the graph.
#pragma once

#include "kernel/machine.h"

namespace holdfast::tasks {

// The references of the two effects of a task.
inline constexpr std::string_view kCheckReference = "check";
inline constexpr std::string_view kRunReference = "run";

// Codes of errors that tasks end with, besides those of executors.
inline constexpr std::string_view kDependencyFailed = "task.dependency_failed";
inline constexpr std::string_view kEpochFailed = "task.earlier_epoch_failed";
inline constexpr std::string_view kResultTooLarge = "task.result_too_large";

// In the details of an error: no worker is left that could run the task. Such an error spends no
// attempt, and the task ends with what an executor said last, if one did.
inline constexpr std::string_view kGivenUp = "given_up";
base::Bytes given_up_details();  // canonical, without tag

class TaskMachine : public kernel::Machine {
 public:
  void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;
};

}  // namespace holdfast::tasks
