// SPDX-License-Identifier: Apache-2.0
// What graphs and tasks tell each other, and what a graph is told from outside: events of the
// system's own workflows sys/Graph@1 and sys/Task@1 (defs/builtin.cc). An event names the instance
// that it is for in the field `key`. Writers put the fields in canonical order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "tasks/graph_progress.h"
#include "tasks/task_definition.h"

namespace holdfast::tasks {

inline constexpr std::string_view kGraphOpened = "sys/GraphOpened@1";
inline constexpr std::string_view kGraphPart = "sys/GraphPart@1";
inline constexpr std::string_view kGraphSealed = "sys/GraphSealed@1";
inline constexpr std::string_view kGraphCancelAsked = "sys/GraphCancelAsked@1";
inline constexpr std::string_view kGraphTaskEnded = "sys/GraphTaskEnded@1";
inline constexpr std::string_view kGraphContinued = "sys/GraphContinued@1";
inline constexpr std::string_view kTaskCreated = "sys/TaskCreated@1";
inline constexpr std::string_view kTaskDependencyEnded = "sys/TaskDependencyEnded@1";
inline constexpr std::string_view kTaskCancelAsked = "sys/TaskCancelAsked@1";
inline constexpr std::string_view kTaskDiscarded = "sys/TaskDiscarded@1";
inline constexpr std::string_view kTaskContinued = "sys/TaskContinued@1";

// "nightly/42": the key of a task, from those of its graph and its number. A graph's name has no
// slash in it.
std::string task_key(std::string_view graph, TaskIndex number);

struct TaskName {
  std::string_view graph;
  TaskIndex number = 0;
};
std::optional<TaskName> parse_task_key(std::string_view key);

// Where the keys of the tasks of a graph are, canonical, from the first on and before the second:
// one range for each length of a number.
std::vector<std::pair<base::Bytes, base::Bytes>> task_key_ranges(std::string_view graph);

// What is wrong with the id of a graph, or nothing: 1 to 100 letters, digits and ".-_", beginning
// with a letter or digit.
std::optional<std::string> graph_id_problem(std::string_view id);

// The keys of instances, canonical.
base::Bytes key_bytes(std::string_view key);

// To a graph, from outside. `header` and `part` are canonical values without tag. A graph of one
// part is opened, filled and sealed by one event.
void write_opened(codec::Buffer& out, std::string_view graph, base::ByteView header,
                  base::ByteView part, bool is_sealed);
void write_part(codec::Buffer& out, std::string_view graph, base::ByteView part);
void write_sealed(codec::Buffer& out, std::string_view graph);
void write_cancel_asked(codec::Buffer& out, std::string_view graph, std::string_view reason,
                        std::string_view by);

// To a graph, from a task of it.
struct TaskEndedMessage {
  TaskIndex number = 0;
  TaskKind kind = TaskKind::kRun;
  TaskState state = TaskState::kDone;
  bool is_skipped = false;
  std::optional<std::uint32_t> epoch;  // of a gate: the one that begins
  std::optional<std::string> error;    // of one that failed by itself
};
void write_task_ended(codec::Buffer& out, std::string_view graph, const TaskEndedMessage& ended);
TaskEndedMessage read_task_ended(base::ByteView value);

// To a task, from its graph.
void write_created(codec::Buffer& out, std::string_view graph, TaskIndex number,
                   std::uint64_t waits, base::ByteView definition, base::ByteView adopted);

// To a task, from its graph or from outside. `with_graph`: the whole graph is cancelled.
void write_task_cancel(codec::Buffer& out, std::string_view key, std::string_view reason,
                       std::string_view by, bool with_graph);

// To a task, from one that it depends on; from its graph, which is the start.
struct DependencyEnded {
  TaskState state = TaskState::kDone;
  bool is_epoch = false;  // from a gate
  TaskIndex origin = 0;   // the task that it began with, if it did not end well
  std::string_view name;  // of that
};
void write_dependency_ended(codec::Buffer& out, std::string_view key, const DependencyEnded& ended);
DependencyEnded read_dependency_ended(base::ByteView value);

// An event that says nothing but whom it is for.
void write_key_only(codec::Buffer& out, std::string_view key);

}  // namespace holdfast::tasks
