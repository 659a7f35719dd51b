// SPDX-License-Identifier: Apache-2.0
// The params of sys/task.run@1: a task that waits for a worker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "tasks/task_definition.h"

namespace holdfast::tasks {

struct RunParams {
  const TaskDefinition& task;
  base::ByteView definition;  // the bytes of the task (tasks/task_codec.h)
  std::string_view graph;     // with `number` it names the log of the task
  std::uint64_t number = 0;
  std::uint64_t attempt = 1;
  std::span<const std::string> avoid = {};  // workers
};

void write_run_params(codec::Buffer& out, const RunParams& params);

}  // namespace holdfast::tasks
