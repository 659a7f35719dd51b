// SPDX-License-Identifier: Apache-2.0
// The bytes of a task's definition: a canonical list, docs/formats/task-graph.md. A definition that
// was read is written as the same bytes again.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "tasks/task_definition.h"

namespace holdfast::tasks {

void write_task(codec::Buffer& out, const TaskDefinition& task);

// kInvalid: it is not a definition, or one that no plan makes.
base::Result<TaskDefinition> read_task(codec::View value);

}  // namespace holdfast::tasks
