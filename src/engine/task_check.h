// SPDX-License-Identifier: Apache-2.0
// What performs sys/task.check@1: looks at the condition of a task, in the results of the tasks
// before it. It changes nothing, and what it reads never changes, so it may be done again.
#pragma once

#include <memory>

#include "engine/task_outcomes.h"
#include "executors/executor.h"

namespace holdfast::engine {

std::unique_ptr<executors::Executor> task_check_executor(ReadInstances read, ReadBlob read_blob);

}  // namespace holdfast::engine
