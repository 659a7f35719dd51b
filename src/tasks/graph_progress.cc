// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_progress.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace holdfast::tasks {

GraphShape shape_of(const Plan& plan) {
  GraphShape shape;
  shape.epoch_count = plan.epoch_count;
  // Epochs are rules here, so gates and the dependencies on them are left out.
  for (TaskIndex index = 0; index < plan.total_count; ++index) {
    shape.first_range.push_back(static_cast<std::uint32_t>(shape.ranges.size()));
    const bool is_gate = plan.gate_of(index) != nullptr;
    const PlanNode* node = is_gate ? nullptr : &plan.nodes[plan.node_of(index)];
    const bool is_join = is_gate || (node->is_foreach() && index == node->last_task());
    shape.is_join.push_back(is_join);
    std::uint32_t dependencies = 1;  // of a gate: it is never done
    if (!is_gate) {
      const TaskRanges dependents = plan.dependents_but_gates(index);
      shape.ranges.insert(shape.ranges.end(), dependents.begin(), dependents.end());
      dependencies =
          is_join ? node->tasks().count : static_cast<std::uint32_t>(node->dependencies.size());
    }
    shape.dependency_count.push_back(dependencies);
    if (plan.epoch_count > 0) shape.epoch.push_back(is_gate ? kNoEpoch : *node->epoch);
  }
  shape.first_range.push_back(static_cast<std::uint32_t>(shape.ranges.size()));
  return shape;
}

template <class Visit>
void GraphProgress::for_each_dependent(TaskIndex task, Visit visit) const {
  for (std::uint32_t i = shape_.first_range[task]; i < shape_.first_range[task + 1]; ++i) {
    const TaskRange range = shape_.ranges[i];
    for (TaskIndex dependent = range.first; dependent < range.end(); ++dependent) visit(dependent);
  }
}

GraphProgress::GraphProgress(GraphShape shape)
    : shape_(std::move(shape)),
      states_(shape_.size(), TaskState::kPending),
      waiting_(shape_.dependency_count),
      blocked_from_(shape_.epoch_count) {
  for (TaskIndex task = 0; task < shape_.size(); ++task)
    counts_.pending += shape_.is_join[task] ? 0U : 1U;
  if (shape_.epoch.empty()) return;
  // The tasks of each epoch, side by side.
  epoch_left_.resize(shape_.epoch_count);
  for (const std::uint32_t epoch : shape_.epoch) {
    if (epoch != kNoEpoch) ++epoch_left_[epoch];
  }
  epoch_begin_.resize(shape_.epoch_count + 1);
  for (std::uint32_t epoch = 0; epoch < shape_.epoch_count; ++epoch)
    epoch_begin_[epoch + 1] = epoch_begin_[epoch] + epoch_left_[epoch];
  epoch_tasks_.resize(shape_.size());
  std::vector<std::uint32_t> next(epoch_begin_.begin(), epoch_begin_.end() - 1);
  for (TaskIndex task = 0; task < shape_.size(); ++task) {
    if (shape_.epoch[task] != kNoEpoch) epoch_tasks_[next[shape_.epoch[task]]++] = task;
  }
}

bool GraphProgress::is_gated(TaskIndex task) const {
  return !shape_.epoch.empty() && shape_.epoch[task] > frontier_;
}

bool GraphProgress::ignores_facts(TaskIndex task) const {
  return shape_.is_join[task] || has_ended(states_[task]);
}

bool GraphProgress::is_ready(TaskIndex task) const {
  return has_started_ && !shape_.is_join[task] && states_[task] == TaskState::kPending &&
         waiting_[task] == 0 && !is_gated(task);
}

void GraphProgress::report_if_ready(TaskIndex task, Consequences& out) const {
  if (is_ready(task)) out.ready.push_back(task);
}

Consequences GraphProgress::start() {
  CHECK(!std::exchange(has_started_, true));
  Consequences out;
  for (TaskIndex task = 0; task < shape_.size(); ++task) report_if_ready(task, out);
  return out;
}

void GraphProgress::move(TaskIndex task, TaskState state) {
  const TaskState before = std::exchange(states_[task], state);
  if (shape_.is_join[task]) return;
  const auto count = [&](TaskState of) -> std::uint32_t& {
    switch (of) {
      case TaskState::kPending: return counts_.pending;
      case TaskState::kDispatched:
      case TaskState::kCancelling: return counts_.dispatched;
      case TaskState::kDone: return counts_.done;
      case TaskState::kFailed: return counts_.failed;
      case TaskState::kCancelled: break;
    }
    return counts_.cancelled;
  };
  --count(before);
  ++count(state);
}

void GraphProgress::dispatched(TaskIndex task) {
  if (!ignores_facts(task) && states_[task] == TaskState::kPending)
    move(task, TaskState::kDispatched);
}

Consequences GraphProgress::returned(TaskIndex task) {
  Consequences out;
  if (states_[task] == TaskState::kCancelling) {
    end_badly(task, TaskState::kCancelled, out);
  } else if (states_[task] == TaskState::kDispatched) {
    move(task, TaskState::kPending);
    report_if_ready(task, out);
  }
  return out;
}

Consequences GraphProgress::done(TaskIndex task) {
  Consequences out;
  if (ignores_facts(task)) return out;
  if (states_[task] == TaskState::kCancelling) {
    end_badly(task, TaskState::kCancelled, out);
    return out;
  }
  finish(task, out);
  advance_frontier(out);
  return out;
}

// A join has no work of its own: it is done with the last of its elements. Its dependents are never
// joins of others' elements, so this goes one level deep.
void GraphProgress::finish(TaskIndex task, Consequences& out) {
  move(task, TaskState::kDone);
  out.ended.push_back({task, TaskState::kDone, Ending::kItself, task});
  if (!shape_.epoch.empty()) --epoch_left_[shape_.epoch[task]];
  for_each_dependent(task, [&](TaskIndex dependent) {
    if (--waiting_[dependent] > 0) return;
    if (shape_.is_join[dependent]) {
      if (!has_ended(states_[dependent])) finish(dependent, out);
    } else {
      report_if_ready(dependent, out);
    }
  });
}

void GraphProgress::advance_frontier(Consequences& out) {
  if (shape_.epoch.empty()) return;
  while (frontier_ < shape_.epoch_count && epoch_left_[frontier_] == 0) {
    ++frontier_;
    if (frontier_ == shape_.epoch_count) return;
    for (std::uint32_t i = epoch_begin_[frontier_]; i < epoch_begin_[frontier_ + 1]; ++i)
      report_if_ready(epoch_tasks_[i], out);
  }
}

Consequences GraphProgress::failed(TaskIndex task) {
  Consequences out;
  if (ignores_facts(task)) return out;
  const bool is_cancelling = states_[task] == TaskState::kCancelling;
  end_badly(task, is_cancelling ? TaskState::kCancelled : TaskState::kFailed, out);
  return out;
}

Consequences GraphProgress::cancel(TaskIndex task) {
  Consequences out;
  if (ignores_facts(task)) return out;
  if (states_[task] == TaskState::kPending) {
    end_badly(task, TaskState::kCancelled, out);
  } else if (states_[task] == TaskState::kDispatched) {
    move(task, TaskState::kCancelling);
    out.to_stop.push_back(task);
  }
  return out;
}

Consequences GraphProgress::cancelled(TaskIndex task) {
  Consequences out;
  if (!ignores_facts(task)) end_badly(task, TaskState::kCancelled, out);
  return out;
}

Consequences GraphProgress::cancel_all() {
  Consequences out;
  for (TaskIndex task = 0; task < shape_.size(); ++task) {
    if (states_[task] == TaskState::kPending) {
      move(task, TaskState::kCancelled);
      out.ended.push_back({task, TaskState::kCancelled, Ending::kGraph, task});
    } else if (states_[task] == TaskState::kDispatched) {
      move(task, TaskState::kCancelling);
      out.to_stop.push_back(task);
    }
  }
  return out;
}

void GraphProgress::end_badly(TaskIndex task, TaskState state, Consequences& out) {
  move(task, state);
  out.ended.push_back({task, state, Ending::kItself, task});
  take_descendants(task, state, out);
  block_later_epochs(task, state, out);
}

// Those behind a task that did not end DONE can never run. One that has ended already, by a result
// that was adopted, stops the search: what comes after it has what it needs of it.
void GraphProgress::take_descendants(TaskIndex origin, TaskState state, Consequences& out) {
  std::vector<TaskIndex> left{origin};
  while (!left.empty()) {
    const TaskIndex task = left.back();
    left.pop_back();
    for_each_dependent(task, [&](TaskIndex dependent) {
      if (states_[dependent] != TaskState::kPending) return;
      move(dependent, state);
      out.ended.push_back({dependent, state, Ending::kDependency, origin});
      left.push_back(dependent);
    });
  }
}

void GraphProgress::block_later_epochs(TaskIndex origin, TaskState state, Consequences& out) {
  if (shape_.epoch.empty()) return;
  const std::uint32_t first = shape_.epoch[origin] + 1;
  for (std::uint32_t epoch = first; epoch < blocked_from_; ++epoch) {
    for (std::uint32_t i = epoch_begin_[epoch]; i < epoch_begin_[epoch + 1]; ++i) {
      const TaskIndex task = epoch_tasks_[i];
      if (states_[task] != TaskState::kPending) continue;
      move(task, state);
      out.ended.push_back({task, state, Ending::kEarlierEpoch, origin});
    }
  }
  blocked_from_ = std::min(blocked_from_, first);
}

GraphStatus GraphProgress::status() const noexcept {
  if (counts_.dispatched > 0) return GraphStatus::kDispatched;
  if (counts_.pending > 0) return GraphStatus::kPending;
  if (counts_.failed > 0) return GraphStatus::kFailed;
  return counts_.cancelled > 0 ? GraphStatus::kCancelled : GraphStatus::kDone;
}

GraphVerdict GraphProgress::verdict() const noexcept {
  if (counts_.failed > 0) return GraphVerdict::kFailed;
  if (counts_.pending + counts_.dispatched > 0) return GraphVerdict::kOpen;
  return counts_.cancelled > 0 ? GraphVerdict::kCancelled : GraphVerdict::kDone;
}

std::optional<std::uint32_t> GraphProgress::frontier() const noexcept {
  if (shape_.epoch.empty()) return std::nullopt;
  return frontier_;
}

}  // namespace holdfast::tasks
