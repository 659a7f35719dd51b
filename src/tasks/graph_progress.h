// SPDX-License-Identifier: Apache-2.0
// GraphProgress: the rules by which a graph of tasks advances. Facts in (a task was dispatched, is
// done, failed, was returned, is to be cancelled), consequences out: which tasks became ready, and
// which ended because of it. It decides nothing about time, workers or attempts.
//
//   PENDING -> DISPATCHED -> DONE | FAILED | CANCELLED
//   DISPATCHED -> CANCELLING -> CANCELLED         DISPATCHED -> PENDING when it is returned
//
// 1. A task is ready when it is PENDING, all its dependencies are DONE and its epoch is at the
//    frontier. It is reported as ready once, and again after it was returned.
// 2. The frontier moves on when the whole epoch is DONE, perhaps by several epochs at once.
// 3. A task that ends FAILED or CANCELLED takes all its descendants with it, and every PENDING task
// of
//    later epochs. Each of them names the task it began with. Other branches go on.
// 4. DONE, FAILED and CANCELLED absorb everything: a fact about such a task changes nothing at all.
//    What is CANCELLING ends CANCELLED, whatever comes.
// 5. A fact costs as much as the tasks it changes and their dependents, not the size of the graph:
//    over the life of a graph every task and every dependency is touched a fixed number of times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tasks/plan.h"

namespace holdfast::tasks {

// A task that belongs to no epoch of a graph with epochs: a gate, which these rules do without.
inline constexpr std::uint32_t kNoEpoch = UINT32_MAX;

// What the rules need to know of a graph.
struct GraphShape {
  std::vector<std::uint32_t> first_range;  // of each task's dependents, and one more for the end
  std::vector<TaskRange> ranges;           // dependents
  std::vector<std::uint32_t> dependency_count;  // of each task
  std::vector<bool> is_join;
  std::vector<std::uint32_t> epoch;  // of each task; empty: the graph has no epochs
  std::uint32_t epoch_count = 0;

  std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(dependency_count.size());
  }
};

GraphShape shape_of(const Plan& plan);

enum class TaskState : std::uint8_t {
  kPending,
  kDispatched,
  kCancelling,
  kDone,
  kFailed,
  kCancelled
};

inline bool has_ended(TaskState state) noexcept { return state >= TaskState::kDone; }

// Why a task ended: by itself, or with another one.
enum class Ending : std::uint8_t { kItself, kDependency, kEarlierEpoch, kGraph };

struct EndedTask {
  TaskIndex task = 0;
  TaskState state = TaskState::kDone;
  Ending why = Ending::kItself;
  TaskIndex origin = 0;  // the task that it began with; itself for kItself and kGraph

  friend bool operator==(const EndedTask&, const EndedTask&) = default;
};

// What came of a fact. Joins are among the ended, never among the ready.
struct Consequences {
  std::vector<TaskIndex> ready;
  std::vector<EndedTask> ended;
  std::vector<TaskIndex> to_stop;  // dispatched, and now CANCELLING
};

// How many tasks are in which state. Joins do not count: they are no work.
struct TaskCounts {
  std::uint32_t pending = 0;
  std::uint32_t dispatched = 0;  // CANCELLING counts here
  std::uint32_t done = 0;
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;

  friend bool operator==(const TaskCounts&, const TaskCounts&) = default;
};

// A graph ends when every task has ended.
enum class GraphStatus : std::uint8_t { kPending, kDispatched, kDone, kFailed, kCancelled };

// What can be said of the graph already: FAILED as soon as one task failed.
enum class GraphVerdict : std::uint8_t { kOpen, kDone, kFailed, kCancelled };

class GraphProgress {
 public:
  explicit GraphProgress(GraphShape shape);

  // Called once, before anything else but `done` for results that are adopted from another run.
  Consequences start();

  // A join takes no facts: it follows its elements.
  void dispatched(TaskIndex task);
  Consequences returned(TaskIndex task);
  Consequences done(TaskIndex task);
  Consequences failed(TaskIndex task);

  // A dispatched one is CANCELLING until its end is known: `cancelled`, or any other end.
  Consequences cancel(TaskIndex task);
  Consequences cancelled(TaskIndex task);
  Consequences cancel_all();

  TaskState state(TaskIndex task) const { return states_[task]; }
  bool is_ready(TaskIndex task) const;
  const TaskCounts& counts() const noexcept { return counts_; }
  GraphStatus status() const noexcept;
  GraphVerdict verdict() const noexcept;

  // The epoch that runs now; past the last one when all are done. Nothing: there are no epochs.
  std::optional<std::uint32_t> frontier() const noexcept;

 private:
  bool is_gated(TaskIndex task) const;
  bool ignores_facts(TaskIndex task) const;
  void move(TaskIndex task, TaskState state);
  void finish(TaskIndex task, Consequences& out);
  void advance_frontier(Consequences& out);
  void end_badly(TaskIndex task, TaskState state, Consequences& out);
  void take_descendants(TaskIndex origin, TaskState state, Consequences& out);
  void block_later_epochs(TaskIndex origin, TaskState state, Consequences& out);
  void report_if_ready(TaskIndex task, Consequences& out) const;

  template <class Visit>
  void for_each_dependent(TaskIndex task, Visit visit) const;

  GraphShape shape_;
  std::vector<TaskState> states_;
  std::vector<std::uint32_t> waiting_;  // dependencies that are not done
  TaskCounts counts_;
  bool has_started_ = false;

  // Epochs: the tasks of each one, how many of them are not done, and the first one that can never
  // run because a task of an earlier one ended badly.
  std::vector<std::uint32_t> epoch_begin_;
  std::vector<TaskIndex> epoch_tasks_;
  std::vector<std::uint32_t> epoch_left_;
  std::uint32_t frontier_ = 0;
  std::uint32_t blocked_from_;
};

}  // namespace holdfast::tasks
