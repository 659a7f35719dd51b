// SPDX-License-Identifier: Apache-2.0
// Random graphs and random facts, held against a model that looks at the whole graph each time.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "tasks/graph_progress.h"

namespace holdfast::tasks {
namespace {

struct RandomGraph {
  std::vector<std::set<TaskIndex>> dependencies;  // of each task, all smaller
  std::vector<bool> is_join;
  std::vector<std::uint32_t> epoch;  // empty: none
  std::uint32_t epoch_count = 0;
};

// Groups of one task, or of some elements and their join, each behind some groups before it.
RandomGraph random_graph() {
  RandomGraph graph;
  const bool has_epochs = *rc::gen::arbitrary<bool>();
  const int groups = *rc::gen::inRange(1, 9);
  std::vector<TaskIndex> ends;
  for (int group = 0; group < groups; ++group) {
    const int elements = *rc::gen::inRange(0, 4);
    std::set<TaskIndex> before;
    for (const TaskIndex end : ends) {
      if (*rc::gen::inRange(0, 3) == 0) before.insert(end);
    }
    std::uint32_t epoch = 0;
    if (has_epochs) {
      // Not before what it depends on, nor with a gap.
      for (const TaskIndex each : before) epoch = std::max(epoch, graph.epoch[each]);
      epoch = *rc::gen::inRange(epoch, graph.epoch_count + 1);
      graph.epoch_count = std::max(graph.epoch_count, epoch + 1);
    }
    const auto add = [&](std::set<TaskIndex> on, bool join) {
      graph.dependencies.push_back(std::move(on));
      graph.is_join.push_back(join);
      if (has_epochs) graph.epoch.push_back(epoch);
      return static_cast<TaskIndex>(graph.dependencies.size() - 1);
    };
    std::set<TaskIndex> made;
    for (int i = 0; i < std::max(elements, 1); ++i) made.insert(add(before, false));
    ends.push_back(elements == 0 ? *made.begin() : add(made, true));
  }
  return graph;
}

GraphShape shape_of_random(const RandomGraph& graph) {
  GraphShape shape;
  shape.is_join = graph.is_join;
  shape.epoch = graph.epoch;
  shape.epoch_count = graph.epoch_count;
  for (TaskIndex task = 0; task < graph.dependencies.size(); ++task) {
    shape.first_range.push_back(static_cast<std::uint32_t>(shape.ranges.size()));
    TaskRanges dependents;
    for (TaskIndex other = task + 1; other < graph.dependencies.size(); ++other) {
      if (graph.dependencies[other].contains(task)) dependents.push_back({other, 1});
    }
    tidy(dependents);
    shape.ranges.insert(shape.ranges.end(), dependents.begin(), dependents.end());
    shape.dependency_count.push_back(static_cast<std::uint32_t>(graph.dependencies[task].size()));
  }
  shape.first_range.push_back(static_cast<std::uint32_t>(shape.ranges.size()));
  return shape;
}

// The rules in the plainest words.
class Model {
 public:
  explicit Model(const RandomGraph& graph)
      : graph_(graph), states_(graph.dependencies.size(), TaskState::kPending) {}

  TaskState state(TaskIndex task) const { return states_[task]; }
  std::size_t size() const { return states_.size(); }

  std::uint32_t frontier() const {
    std::uint32_t frontier = 0;
    for (; frontier < graph_.epoch_count; ++frontier) {
      for (TaskIndex task = 0; task < size(); ++task) {
        if (graph_.epoch[task] == frontier && states_[task] != TaskState::kDone) return frontier;
      }
    }
    return frontier;
  }

  bool is_ready(TaskIndex task) const {
    if (!started || graph_.is_join[task] || states_[task] != TaskState::kPending) return false;
    for (const TaskIndex dependency : graph_.dependencies[task]) {
      if (states_[dependency] != TaskState::kDone) return false;
    }
    return graph_.epoch.empty() || graph_.epoch[task] <= frontier();
  }

  void fact(int kind, TaskIndex task) {
    TaskState& state = states_[task];
    if (graph_.is_join[task] || has_ended(state)) return;
    const bool is_cancelling = state == TaskState::kCancelling;
    switch (kind) {
      case 0: state = is_cancelling ? state : TaskState::kDispatched; break;
      case 1: state = is_cancelling ? TaskState::kCancelled : TaskState::kDone; break;
      case 2: state = is_cancelling ? TaskState::kCancelled : TaskState::kFailed; break;
      case 3: state = is_cancelling ? TaskState::kCancelled : TaskState::kPending; break;
      case 4:
        state = state == TaskState::kPending ? TaskState::kCancelled : TaskState::kCancelling;
        break;
      default: state = TaskState::kCancelled; break;
    }
    settle();
  }

  bool started = false;

 private:
  static bool is_bad(TaskState state) {
    return state == TaskState::kFailed || state == TaskState::kCancelled;
  }

  // Whatever waits for something that can never come ends as that did; a join follows its elements.
  void settle() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (TaskIndex task = 0; task < size(); ++task) {
        if (states_[task] != TaskState::kPending) continue;
        const TaskState becomes = outcome_of(task);
        has_changed |= becomes != TaskState::kPending;
        states_[task] = becomes;
      }
    }
  }

  TaskState outcome_of(TaskIndex task) const {
    bool all_done = true;
    for (const TaskIndex dependency : graph_.dependencies[task]) {
      if (is_bad(states_[dependency])) return states_[dependency];
      all_done &= states_[dependency] == TaskState::kDone;
    }
    if (!graph_.epoch.empty()) {
      for (TaskIndex other = 0; other < size(); ++other) {
        if (graph_.epoch[other] < graph_.epoch[task] && is_bad(states_[other]))
          return states_[other];
      }
    }
    return graph_.is_join[task] && all_done ? TaskState::kDone : TaskState::kPending;
  }

  const RandomGraph& graph_;
  std::vector<TaskState> states_;
};

Consequences apply(GraphProgress& progress, int kind, TaskIndex task) {
  switch (kind) {
    case 0: return progress.dispatched(task), Consequences();
    case 1: return progress.done(task);
    case 2: return progress.failed(task);
    case 3: return progress.returned(task);
    case 4: return progress.cancel(task);
    default: return progress.cancelled(task);
  }
}

void compare(const GraphProgress& progress, const Model& model, const RandomGraph& graph) {
  TaskCounts counts;
  for (TaskIndex task = 0; task < model.size(); ++task) {
    RC_ASSERT(progress.state(task) == model.state(task));
    RC_ASSERT(progress.is_ready(task) == model.is_ready(task));
    if (graph.is_join[task]) continue;
    switch (model.state(task)) {
      case TaskState::kPending: ++counts.pending; break;
      case TaskState::kDispatched:
      case TaskState::kCancelling: ++counts.dispatched; break;
      case TaskState::kDone: ++counts.done; break;
      case TaskState::kFailed: ++counts.failed; break;
      case TaskState::kCancelled: ++counts.cancelled; break;
    }
  }
  RC_ASSERT(progress.counts() == counts);
  if (!graph.epoch.empty()) RC_ASSERT(progress.frontier() == model.frontier());
}

RC_GTEST_PROP(GraphProgress, does_what_the_plain_model_does, ()) {
  const RandomGraph graph = random_graph();
  GraphProgress progress(shape_of_random(graph));
  Model model(graph);
  const auto tasks = static_cast<TaskIndex>(model.size());
  // Results that are adopted from another run come first.
  for (int adopted = *rc::gen::inRange(0, 3); adopted > 0; --adopted) {
    const TaskIndex task = *rc::gen::inRange<TaskIndex>(0, tasks);
    RC_ASSERT(progress.done(task).ready.empty());
    model.fact(1, task);
  }
  model.started = true;
  std::set<TaskIndex> reported;  // ready, as far as was told
  const auto note = [&](const Consequences& what) {
    for (const EndedTask& ended : what.ended) {
      RC_ASSERT(progress.state(ended.task) == ended.state);
      RC_ASSERT(has_ended(progress.state(ended.origin)));
      reported.erase(ended.task);
    }
    for (const TaskIndex task : what.ready) RC_ASSERT(reported.insert(task).second);
  };
  note(progress.start());
  compare(progress, model, graph);
  for (int facts = *rc::gen::inRange(0, 60); facts > 0; --facts) {
    // Mostly what happens to tasks that are ready or run; now and then anything to anyone.
    const TaskIndex task = *rc::gen::inRange<TaskIndex>(0, tasks);
    const int kind =
        *rc::gen::weightedElement<int>({{6, 0}, {8, 1}, {2, 2}, {2, 3}, {1, 4}, {1, 5}});
    const bool is_likely = model.is_ready(task) || model.state(task) == TaskState::kDispatched ||
                           model.state(task) == TaskState::kCancelling ||
                           has_ended(model.state(task));
    if (!is_likely) continue;
    const TaskState before = progress.state(task);
    const Consequences what = apply(progress, kind, task);
    model.fact(kind, task);
    if (kind == 0 && before == TaskState::kPending) reported.erase(task);
    note(what);
    compare(progress, model, graph);
    // What was told is what is: nobody need look at the whole graph.
    for (TaskIndex each = 0; each < tasks; ++each)
      RC_ASSERT(reported.contains(each) == progress.is_ready(each));
  }
}

}  // namespace
}  // namespace holdfast::tasks
