// SPDX-License-Identifier: Apache-2.0
// TaskCell: the state of one task, an instance of sys/Task@1. docs/formats/task-graph.md has its
// bytes. While a task waits, only the numbers at the front change; its definition is copied as it
// is and read when the task is ready.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "tasks/graph_progress.h"
#include "tasks/task_definition.h"

namespace holdfast::tasks {

enum class TaskPhase : std::uint8_t {
  kWaiting,   // for tasks that it depends on, for its epoch, or for the start of its graph
  kChecking,  // its condition is looked at
  kRunning,   // sys/task.run@1 is open: it waits for a worker, or one has it
  kStopping,  // the same, and it is to be cancelled
  kDone,
  kFailed,
  kCancelled,
};

inline bool has_ended(TaskPhase phase) noexcept { return phase >= TaskPhase::kDone; }

// The end of a task, as others are told of it. Only for a phase that has ended.
TaskState state_of(TaskPhase phase) noexcept;

struct TaskError {
  std::string code;
  std::string message;
  std::string worker;  // that reported it, or lost the task; empty: none

  friend bool operator==(const TaskError&, const TaskError&) = default;
};

// Why a task ended with another one.
struct EndedWith {
  Ending why = Ending::kDependency;
  TaskIndex origin = 0;
  std::string name;  // of the origin

  friend bool operator==(const EndedWith&, const EndedWith&) = default;
};

struct TaskCell {
  TaskPhase phase = TaskPhase::kWaiting;
  std::uint64_t waiting = 0;   // for how many tasks; the start of the graph counts as one
  std::uint32_t attempts = 0;  // executions that count, of those that have ended
  std::uint32_t told = 0;      // dependents that have heard of its end
  bool is_skipped = false;
  bool tells_nobody = false;  // the whole graph is cancelled: everybody hears it from the graph
  std::uint64_t created_ns = 0;
  std::uint64_t ready_ns = 0;      // 0: not yet
  std::uint64_t ended_ns = 0;      // 0: not yet
  std::optional<TaskError> error;  // of the last execution
  std::vector<std::string> avoid;  // workers that failed it, the last ones
  std::optional<EndedWith> ended_with;
  base::ByteView definition;  // canonical, without tag; tasks/task_codec.h reads it
  base::ByteView result;      // that it was created with, or has and still tells; empty: none
};

void write_cell(codec::Buffer& out, const TaskCell& cell);

// Views of the definition and the result are into the value. Nothing: these are not such bytes.
std::optional<TaskCell> read_task_cell(codec::View value);

}  // namespace holdfast::tasks
