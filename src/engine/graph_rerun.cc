// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of a graph again that were not done. The definitions and results are read from the
// old tasks, part by part, while the new graph is entered.
#include <algorithm>
#include <future>
#include <utility>

#include "defs/system_names.h"
#include "engine/graph_submission.h"
#include "engine/new_graph_id.h"
#include "tasks/messages.h"
#include "tasks/task_cell.h"
#include "tasks/task_codec.h"

namespace holdfast {
namespace {

constexpr std::size_t kReadBytes = std::size_t{2} << 20;

class OldTasks : public engine::GraphParts {
 public:
  OldTasks(Engine& engine, std::string graph, std::uint32_t count)
      : engine_(engine), graph_(std::move(graph)), count_(count) {}

  void part_from(tasks::TaskIndex first, Engine::Then<Part> then) override {
    std::vector<Engine::RawName> names;
    const std::size_t most = std::min<std::size_t>(count_ - first, tasks::kMaxPartTasks);
    for (tasks::TaskIndex i = 0; i < most; ++i) {
      names.push_back(
          {std::string(defs::kTaskWorkflow), tasks::key_bytes(tasks::task_key(graph_, first + i))});
    }
    engine_.query_raw(
        std::move(names),
        [first, then = std::move(then)](const Result<Engine::RawInstances>& found) {
          then(found ? part_of(first, *found) : Result<Part>(found.error()));
        },
        kReadBytes);
  }

 private:
  static Result<Part> part_of(tasks::TaskIndex first, const Engine::RawInstances& found) {
    tasks::PartWriter writer(first);
    Part part;
    part.next = first;
    for (const Result<RawInstance>& instance : found) {
      if (!instance) return instance.error();
      const auto cell = tasks::read_task_cell(codec::View::of(instance->state));
      if (!cell) return Error{ErrorCode::kCorrupt, "the state of a task cannot be read"};
      const auto task = tasks::read_task(codec::View::of(cell->definition));
      if (!task) return Error{ErrorCode::kCorrupt, "the definition of a task cannot be read"};
      const bool is_adopted =
          instance->status == InstanceStatus::kCompleted && task->kind == tasks::TaskKind::kRun;
      if (!writer.add(cell->definition, is_adopted ? instance->outcome : Bytes())) break;
      ++part.next;
    }
    part.bytes = writer.take();
    return part;
  }

  Engine& engine_;
  std::string graph_;
  std::uint32_t count_;
};

}  // namespace

void Graphs::rerun(const std::string& graph, const std::string& id, Then<GraphSubmitted> then) {
  if (!id.empty()) {
    if (auto problem = tasks::graph_id_problem(id))
      return then(Error{ErrorCode::kInvalid, "id: " + *problem});
  }
  engine_.query_raw(
      defs::kGraphWorkflow, tasks::key_bytes(graph),
      [&engine = engine_, graph, id, then = std::move(then)](const Result<RawInstance>& found) {
        if (!found && found.error().code == ErrorCode::kNotFound)
          return then(Error{ErrorCode::kNotFound, "there is no graph '" + graph + "'"});
        if (!found) return then(found.error());
        auto old = tasks::read_graph_cell(codec::View::of(found->state));
        if (!old) return then(Error{ErrorCode::kCorrupt, "the state of the graph cannot be read"});
        if (old->phase != tasks::GraphPhase::kEnded)
          return then(Error{ErrorCode::kConflict, "graph '" + graph + "' has not ended"});
        if (old->verdict() == tasks::GraphVerdict::kDone)
          return then(Error{ErrorCode::kConflict, "all tasks of graph '" + graph + "' are done"});
        tasks::GraphHeader header = std::move(old->header);
        header.rerun_of = graph;
        auto parts = std::make_unique<OldTasks>(engine, graph, header.total_count);
        const bool may_exist = !id.empty();
        std::make_shared<engine::GraphEntry>(engine, may_exist ? id : engine::new_graph_id(),
                                             std::move(header), std::move(parts), then)
            ->begin(may_exist);
      });
}

Result<GraphSubmitted> Graphs::rerun(const std::string& graph, const std::string& id) {
  const auto answer = std::make_shared<std::promise<Result<GraphSubmitted>>>();
  rerun(graph, id, [answer](Result<GraphSubmitted> told) { answer->set_value(std::move(told)); });
  return answer->get_future().get();
}

}  // namespace holdfast
