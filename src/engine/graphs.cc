// SPDX-License-Identifier: Apache-2.0
#include "holdfast/graphs.h"

#include <algorithm>
#include <future>
#include <utility>

#include "bundle/yaml.h"
#include "codec/normaliser.h"
#include "defs/system_names.h"
#include "engine/graph_submission.h"
#include "engine/new_graph_id.h"
#include "engine/task_outcomes.h"
#include "errors/translate.h"
#include "tasks/compile.h"
#include "tasks/large_result.h"
#include "tasks/messages.h"
#include "tasks/task_cell.h"
#include "tasks/task_codec.h"

namespace holdfast {
namespace {

using codec::View;

constexpr std::size_t kMostTasksPerPage = 1000;
constexpr std::size_t kBytesPerPage = std::size_t{4} << 20;

template <class T, class Ask>
Result<T> wait_for(Ask&& ask) {
  const auto answer = std::make_shared<std::promise<Result<T>>>();
  ask(Engine::Then<T>([answer](Result<T> told) { answer->set_value(std::move(told)); }));
  return answer->get_future().get();
}

base::Result<Bytes> value_of(const GraphSubmission& submission) {
  codec::Normaliser normaliser;
  if (submission.text.empty()) {
    const auto value = TRY(normaliser.part_from_cbor(codec::Schema::any(), submission.value));
    return Bytes(value.begin(), value.end());
  }
  const std::size_t first = submission.text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && submission.text[first] == '{';
  std::string json;
  if (!is_json) json = TRY(bundle::yaml_to_json(submission.text));
  const auto value =
      TRY(normaliser.from_json(codec::Schema::any(), is_json ? submission.text : json));
  return Bytes(value.begin(), value.end());
}

// Executors of FlowMesh that there are here, too. A document of FlowMesh that needs another one is
// refused, instead of waiting for a worker that nobody has.
std::optional<std::vector<std::string>> types_for(View document, const GraphSubmission& given) {
  if (given.task_types) return given.task_types;
  const auto version = document.find("apiVersion");
  if (!version || !version->text().value_or("").starts_with("flowmesh/")) return std::nullopt;
  return std::vector<std::string>{"echo", "http", "node", "process", "python"};
}

// The parts of a plan that was just compiled.
class PlanParts : public engine::GraphParts {
 public:
  explicit PlanParts(tasks::Plan plan) : plan_(std::move(plan)) {}
  void part_from(tasks::TaskIndex first, Engine::Then<Part> then) override {
    Part part;
    part.next = first;
    part.bytes = tasks::part_from(plan_, part.next);
    then(std::move(part));
  }

 private:
  tasks::Plan plan_;
};

Engine::RawName graph_name(const std::string& id) {
  return {std::string(defs::kGraphWorkflow), tasks::key_bytes(id)};
}
Engine::RawName task_name(const std::string& graph, tasks::TaskIndex number) {
  return {std::string(defs::kTaskWorkflow), tasks::key_bytes(tasks::task_key(graph, number))};
}

Error no_graph(const std::string& id) {
  return {ErrorCode::kNotFound, "there is no graph '" + id + "'"};
}

Result<tasks::GraphCell> graph_in(const std::string& id, const Result<RawInstance>& found) {
  if (!found && found.error().code == ErrorCode::kNotFound) return no_graph(id);
  if (!found) return found.error();
  auto cell = tasks::read_graph_cell(View::of(found->state));
  if (!cell) return Error{ErrorCode::kCorrupt, "the state of graph '" + id + "' cannot be read"};
  return std::move(*cell);
}

std::string_view verdict_text(tasks::GraphVerdict verdict) {
  switch (verdict) {
    case tasks::GraphVerdict::kOpen: return "OPEN";
    case tasks::GraphVerdict::kDone: return "DONE";
    case tasks::GraphVerdict::kFailed: return "FAILED";
    case tasks::GraphVerdict::kCancelled: break;
  }
  return "CANCELLED";
}

GraphInfo info_of(const std::string& id, const tasks::GraphCell& cell) {
  GraphInfo info;
  info.id = id;
  info.name = cell.header.name;
  info.owner = cell.header.owner;
  info.kind = cell.header.kind;
  info.annotations = cell.header.annotations;
  info.verdict = verdict_text(cell.verdict());
  const bool is_open = cell.phase == tasks::GraphPhase::kRunning;
  info.status = cell.phase == tasks::GraphPhase::kEnded ? info.verdict
                : is_open                               ? "PENDING"
                                                        : "ENTERING";
  info.tasks = cell.header.run_count;
  info.pending = cell.open();
  info.done = cell.done;
  info.skipped = cell.skipped;
  info.failed = cell.failed;
  info.cancelled = cell.cancelled;
  info.epochs = cell.header.epoch_count;
  info.frontier = cell.frontier;
  info.is_cancelling = cell.is_cancelling && is_open;
  info.reason = cell.cancel_reason;
  info.cancelled_by = cell.cancelled_by;
  info.error = cell.first_error;
  info.rerun_of = cell.header.rerun_of;
  info.created_ns = cell.created_ns;
  info.started_ns = cell.sealed_ns;
  info.ended_ns = cell.ended_ns;
  info.numbers = cell.header.total_count;
  return info;
}

TaskStatus status_of(tasks::TaskPhase phase) {
  switch (phase) {
    case tasks::TaskPhase::kWaiting:
    case tasks::TaskPhase::kChecking:
    case tasks::TaskPhase::kRunning: return TaskStatus::kPending;
    case tasks::TaskPhase::kStopping: return TaskStatus::kCancelling;
    case tasks::TaskPhase::kDone: return TaskStatus::kDone;
    case tasks::TaskPhase::kFailed: return TaskStatus::kFailed;
    case tasks::TaskPhase::kCancelled: break;
  }
  return TaskStatus::kCancelled;
}

std::vector<TaskNumbers> numbers_of(const tasks::TaskRanges& ranges) {
  std::vector<TaskNumbers> numbers;
  for (const tasks::TaskRange& range : ranges) numbers.push_back({range.first, range.count});
  return numbers;
}

Result<TaskInfo> task_in(const RawInstance& instance, bool with_result) {
  const auto cell = tasks::read_task_cell(View::of(instance.state));
  const auto task = cell ? tasks::read_task(View::of(cell->definition))
                         : base::Result<tasks::TaskDefinition>(base::invalid("", ""));
  if (!task) return Error{ErrorCode::kCorrupt, "the state of a task cannot be read"};
  TaskInfo info;
  info.number = task->index;
  info.kind = static_cast<TaskInfo::Kind>(task->kind);
  info.name = task->name;
  info.type = task->type;
  info.status = status_of(cell->phase);
  info.is_ready = cell->phase == tasks::TaskPhase::kRunning;
  info.is_skipped = cell->is_skipped;
  info.waits = cell->waiting;
  info.attempts = cell->attempts;
  info.max_attempts = task->policy.max_attempts;
  info.epoch = task->epoch;
  if (cell->error) {
    info.error_code = cell->error->code;
    info.error = cell->error->message;
    info.worker = cell->error->worker;
  }
  if (cell->ended_with) info.origin = cell->ended_with->name;
  info.depends_on = numbers_of(task->dependencies);
  info.dependents = numbers_of(task->dependents);
  info.created_ns = cell->created_ns;
  info.ready_ns = cell->ready_ns;
  info.ended_ns = cell->ended_ns;
  if (with_result && instance.status == InstanceStatus::kCompleted) info.result = instance.outcome;
  return info;
}

// Reads a page of tasks; pages go on until there are enough.
class TaskReading : public std::enable_shared_from_this<TaskReading> {
 public:
  TaskReading(Engine& engine, std::string graph, TaskQuery query, Engine::Then<TaskPage> then)
      : engine_(engine), graph_(std::move(graph)), query_(query), then_(std::move(then)) {}

  void begin() {
    const Engine::RawName name = graph_name(graph_);
    engine_.query_raw(name.workflow, name.key,
                      [self = shared_from_this()](const Result<RawInstance>& found) {
                        const auto cell = graph_in(self->graph_, found);
                        if (!cell) return self->then_(cell.error());
                        // Until it is sealed, tasks beyond the intake are not there.
                        self->end_ = std::min(cell->header.total_count, cell->intake.next());
                        self->next_ = self->query_.from;
                        self->read();
                      });
  }

 private:
  void read() {
    if (next_ >= end_ || page_.tasks.size() >= query_.limit) return tell();
    const std::uint32_t count = static_cast<std::uint32_t>(
        std::min<std::size_t>(end_ - next_, query_.limit - page_.tasks.size()));
    std::vector<Engine::RawName> names;
    for (std::uint32_t i = 0; i < count; ++i) names.push_back(task_name(graph_, next_ + i));
    engine_.query_raw(
        std::move(names),
        [self = shared_from_this()](const Result<Engine::RawInstances>& found) {
          if (!found) return self->then_(found.error());
          self->take(*found);
        },
        kBytesPerPage);
  }

  void take(const Engine::RawInstances& found) {
    for (const Result<RawInstance>& instance : found) {
      const std::uint32_t number = next_++;
      // One that is forgotten, while its graph is being forgotten.
      if (!instance && instance.error().code == ErrorCode::kNotFound) continue;
      if (!instance) return then_(instance.error());
      auto info = task_in(*instance, query_.with_results);
      if (!info) {
        return then_(Error{info.error().code,
                           "task " + std::to_string(number) + ": " + info.error().message});
      }
      if (info->kind != TaskInfo::Kind::kTask && !query_.with_links) continue;
      page_.tasks.push_back(std::move(*info));
    }
    bytes_ += kBytesPerPage;
    if (found.empty() || (query_.with_results && bytes_ >= 4 * kBytesPerPage)) return tell();
    read();
  }

  // Whether a worker has a task is known to its open effect.
  void tell() {
    while (asked_ < page_.tasks.size() && !is_open(page_.tasks[asked_])) ++asked_;
    if (asked_ < page_.tasks.size()) return ask_who_has(page_.tasks[asked_]);
    page_.next = next_ < end_ ? next_ : 0;
    then_(std::move(page_));
  }

  static bool is_open(const TaskInfo& task) {
    return task.is_ready || task.status == TaskStatus::kCancelling;
  }

  void ask_who_has(const TaskInfo& task) {
    const Engine::RawName name = task_name(graph_, task.number);
    engine_.why_raw(name.workflow, name.key,
                    [self = shared_from_this()](const Result<std::vector<WaitReason>>& reasons) {
                      TaskInfo& asked = self->page_.tasks[self->asked_++];
                      // One that has ended meanwhile is told as it was.
                      if (reasons) take_lease(*reasons, asked);
                      self->tell();
                    });
  }

  static void take_lease(const std::vector<WaitReason>& reasons, TaskInfo& task) {
    for (const WaitReason& reason : reasons) {
      if (reason.effect != defs::kTaskRun || !reason.lease) continue;
      if (task.status == TaskStatus::kPending) task.status = TaskStatus::kDispatched;
      task.worker = reason.lease->worker;
    }
  }

  Engine& engine_;
  std::string graph_;
  TaskQuery query_;
  Engine::Then<TaskPage> then_;
  TaskPage page_;
  std::uint32_t next_ = 0;
  std::uint32_t end_ = 0;
  std::size_t bytes_ = 0;
  std::size_t asked_ = 0;  // tasks of the page
};

// Finds those that a task waits for among what it depends on. Of very many only the first are
// looked at.
class WaitReading : public std::enable_shared_from_this<WaitReading> {
 public:
  WaitReading(Engine& engine, std::string graph, Engine::Then<TaskWaits> then)
      : engine_(engine), graph_(std::move(graph)), then_(std::move(then)) {}

  void begin(std::uint32_t number) {
    engine_.query_raw({graph_name(graph_), task_name(graph_, number)},
                      [self = shared_from_this()](const Result<Engine::RawInstances>& found) {
                        if (!found) return self->then_(found.error());
                        self->take_task(*found);
                      });
  }

 private:
  static constexpr std::size_t kMostLookedAt = 2000;
  static constexpr std::size_t kMostListed = 20;

  void take_task(const Engine::RawInstances& found) {
    const auto graph = graph_in(graph_, found[0]);
    if (!graph) return then_(graph.error());
    if (!found[1]) return then_(found[1].error());
    const auto cell = tasks::read_task_cell(View::of(found[1]->state));
    const auto task = task_in(*found[1], false);
    if (!cell || !task) return then_(Error{ErrorCode::kCorrupt, "the state of the task"});
    waits_.is_sealed = graph->phase != tasks::GraphPhase::kIntake;
    if (cell->phase != tasks::TaskPhase::kWaiting) return then_(std::move(waits_));
    waits_.count = cell->waiting;
    for (const TaskNumbers& numbers : task->depends_on) {
      for (std::uint32_t i = 0; i < numbers.count && numbers_.size() < kMostLookedAt; ++i)
        numbers_.push_back(numbers.first + i);
    }
    read();
  }

  void read() {
    if (next_ == numbers_.size() || waits_.tasks.size() >= kMostListed)
      return then_(std::move(waits_));
    std::vector<Engine::RawName> names;
    for (std::size_t i = next_; i < std::min(next_ + 100, numbers_.size()); ++i)
      names.push_back(task_name(graph_, numbers_[i]));
    engine_.query_raw(
        std::move(names),
        [self = shared_from_this()](const Result<Engine::RawInstances>& found) {
          if (!found) return self->then_(found.error());
          for (const Result<RawInstance>& instance : *found) {
            ++self->next_;
            if (!instance || instance->status >= InstanceStatus::kCompleted) continue;
            auto task = task_in(*instance, false);
            if (task && self->waits_.tasks.size() < kMostListed)
              self->waits_.tasks.push_back(std::move(*task));
          }
          self->read();
        },
        kBytesPerPage);
  }

  Engine& engine_;
  std::string graph_;
  Engine::Then<TaskWaits> then_;
  TaskWaits waits_;
  std::vector<std::uint32_t> numbers_;
  std::size_t next_ = 0;
};

void send_to(Engine& engine, std::string_view workflow, std::string_view schema, Bytes key,
             Bytes value, Engine::Then<Done> then) {
  engine.send_raw({.schema = schema,
                   .value = std::move(value),
                   .workflow = workflow,
                   .key = std::move(key),
                   .starts = false},
                  [then = std::move(then)](const Result<Sent>& sent) {
                    if (!sent) return then(sent.error());
                    if (sent->ignored != 0)
                      return then(Error{ErrorCode::kConflict, "it has ended"});
                    then(Done{});
                  });
}

// Loads what a task reads, and then asks `use` what comes of it.
template <class T, class Ranges, class Use>
void with_outcomes(Engine& engine, const std::string& graph, const Bytes& definition, Ranges ranges,
                   Use use, Engine::Then<T> then) {
  auto task = tasks::read_task(View::of(definition));
  if (!task) return then(errors::outside(task.error()));
  const auto outcomes = std::make_shared<engine::TaskOutcomes>(
      [&engine](std::vector<Engine::RawName> names, Engine::Then<Engine::RawInstances> told,
                std::size_t bytes) { engine.query_raw(std::move(names), std::move(told), bytes); },
      [&engine](const Hash& hash, Engine::Then<Bytes> told) {
        engine.read_blob(hash, std::move(told));
      },
      graph);
  // Before the task is moved: arguments of a call are evaluated in any order.
  std::vector<tasks::TaskRange> read = ranges(*task);
  outcomes->load(std::move(read),
                 [outcomes, task = std::make_shared<tasks::TaskDefinition>(std::move(*task)), use,
                  then = std::move(then)](const Result<Done>& loaded) {
                   if (!loaded) return then(loaded.error());
                   auto made = use(*task, *outcomes);
                   if (!made) return then(errors::outside(made.error()));
                   then(std::move(*made));
                 });
}

}  // namespace

std::string_view name_of(TaskStatus status) noexcept {
  switch (status) {
    case TaskStatus::kPending: return "PENDING";
    case TaskStatus::kDispatched: return "DISPATCHED";
    case TaskStatus::kCancelling: return "CANCELLING";
    case TaskStatus::kDone: return "DONE";
    case TaskStatus::kFailed: return "FAILED";
    case TaskStatus::kCancelled: break;
  }
  return "CANCELLED";
}

void Graphs::submit(const GraphSubmission& submission, GraphProblems* problems,
                    Then<GraphSubmitted> then) {
  if (!submission.id.empty()) {
    if (auto problem = tasks::graph_id_problem(submission.id))
      return then(Error{ErrorCode::kInvalid, "id: " + *problem});
  }
  const auto value = value_of(submission);
  if (!value) {
    if (problems != nullptr) problems->push_back(value.error().to_string());
    return then(errors::outside(value.error()));
  }
  tasks::CompileOptions options{.task_types = types_for(View::of(*value), submission),
                                .max_tasks = submission.max_tasks};
  tasks::Compiled compiled = tasks::compile(View::of(*value), options);
  if (!compiled.plan) {
    if (problems != nullptr) {
      for (const base::Error& error : compiled.errors) problems->push_back(error.to_string());
    }
    return then(errors::outside(*compiled.errors.begin()));
  }
  const bool may_exist = !submission.id.empty();
  tasks::GraphHeader header = tasks::header_of(*compiled.plan);
  std::make_shared<engine::GraphEntry>(
      engine_, may_exist ? submission.id : engine::new_graph_id(), std::move(header),
      std::make_unique<PlanParts>(std::move(*compiled.plan)), std::move(then))
      ->begin(may_exist);
}

Result<GraphSubmitted> Graphs::submit(const GraphSubmission& submission, GraphProblems* problems) {
  return wait_for<GraphSubmitted>(
      [&](Then<GraphSubmitted> then) { submit(submission, problems, std::move(then)); });
}

void Graphs::graph(const std::string& id, Then<GraphInfo> then) {
  const Engine::RawName name = graph_name(id);
  engine_.query_raw(name.workflow, name.key,
                    [id, then = std::move(then)](const Result<RawInstance>& found) {
                      const auto cell = graph_in(id, found);
                      if (!cell) return then(cell.error());
                      then(info_of(id, *cell));
                    });
}

Result<GraphInfo> Graphs::graph(const std::string& id) {
  return wait_for<GraphInfo>([&](Then<GraphInfo> then) { graph(id, std::move(then)); });
}

void Graphs::tasks(const std::string& id, const TaskQuery& query, Then<TaskPage> then) {
  if (query.limit == 0 || query.limit > kMostTasksPerPage)
    return then(Error{ErrorCode::kInvalid, "limit: must be from 1 to 1000"});
  std::make_shared<TaskReading>(engine_, id, query, std::move(then))->begin();
}

Result<TaskPage> Graphs::tasks(const std::string& id, const TaskQuery& query) {
  return wait_for<TaskPage>([&](Then<TaskPage> then) { tasks(id, query, std::move(then)); });
}

void Graphs::list(const GraphListQuery& query, Then<GraphList> then) {
  ListOptions options;
  options.workflow = defs::kGraphWorkflow;
  options.limit = query.limit;
  options.after = query.after;
  // Open ones wait for nothing but their tasks once they are sealed.
  if (query.only_open) options.status = "running";
  engine_.list_raw(options, [&engine = engine_,
                             then = std::move(then)](const Result<InstanceList>& listed) mutable {
    if (!listed) return then(listed.error());
    std::vector<Engine::RawName> names;
    std::vector<std::string> ids;
    for (const ListedInstance& each : listed->instances) {
      ids.emplace_back(View::of(each.key).text().value_or(""));
      names.push_back({each.workflow, each.key});
    }
    engine.query_raw(std::move(names),
                     [ids = std::move(ids), next = listed->next,
                      then = std::move(then)](const Result<Engine::RawInstances>& found) {
                       if (!found) return then(found.error());
                       GraphList list;
                       list.next = next;
                       for (std::size_t i = 0; i < found->size(); ++i) {
                         const auto cell = graph_in(ids[i], (*found)[i]);
                         if (cell) list.graphs.push_back(info_of(ids[i], *cell));
                       }
                       then(std::move(list));
                     });
  });
}

Result<GraphList> Graphs::list(const GraphListQuery& query) {
  return wait_for<GraphList>([&](Then<GraphList> then) { list(query, std::move(then)); });
}

void Graphs::waits(const std::string& task, Then<TaskWaits> then) {
  const auto name = tasks::parse_task_key(task);
  if (!name) return then(Error{ErrorCode::kNotFound, "there is no task '" + task + "'"});
  std::make_shared<WaitReading>(engine_, std::string(name->graph), std::move(then))
      ->begin(name->number);
}

Result<TaskWaits> Graphs::waits(const std::string& task) {
  return wait_for<TaskWaits>([&](Then<TaskWaits> then) { waits(task, std::move(then)); });
}

// An event for an instance that is not there would leave nothing, and say nothing.
void Graphs::cancel(const std::string& id, const std::string& reason, const std::string& by,
                    Then<Done> then) {
  graph(id, [&engine = engine_, id, reason, by,
             then = std::move(then)](const Result<GraphInfo>& info) mutable {
    if (!info) return then(info.error());
    codec::Buffer event;
    tasks::write_cancel_asked(event, id, reason, by);
    send_to(engine, defs::kGraphWorkflow, tasks::kGraphCancelAsked, tasks::key_bytes(id),
            event.to_bytes(), std::move(then));
  });
}

Result<Done> Graphs::cancel(const std::string& id, const std::string& reason,
                            const std::string& by) {
  return wait_for<Done>([&](Then<Done> then) { cancel(id, reason, by, std::move(then)); });
}

void Graphs::cancel_task(const std::string& id, std::uint32_t number, const std::string& reason,
                         const std::string& by, Then<Done> then) {
  graph(id, [&engine = engine_, id, number, reason, by,
             then = std::move(then)](const Result<GraphInfo>& info) mutable {
    if (!info) return then(info.error());
    if (number >= info->numbers) {
      return then(
          Error{ErrorCode::kNotFound, "graph '" + id + "' has no task " + std::to_string(number)});
    }
    const std::string key = tasks::task_key(id, number);
    codec::Buffer event;
    tasks::write_task_cancel(event, key, reason, by, false);
    send_to(engine, defs::kTaskWorkflow, tasks::kTaskCancelAsked, tasks::key_bytes(key),
            event.to_bytes(), std::move(then));
  });
}

Result<Done> Graphs::cancel_task(const std::string& id, std::uint32_t number,
                                 const std::string& reason, const std::string& by) {
  return wait_for<Done>(
      [&](Then<Done> then) { cancel_task(id, number, reason, by, std::move(then)); });
}

void Graphs::render(const std::string& graph, const Bytes& definition, Then<Bytes> then) {
  with_outcomes<Bytes>(
      engine_, graph, definition, engine::read_by_spec,
      [](const tasks::TaskDefinition& task, const tasks::Outcomes& outcomes) {
        return tasks::render(task, outcomes);
      },
      std::move(then));
}

Result<Bytes> Graphs::render(const std::string& graph, const Bytes& definition) {
  return wait_for<Bytes>([&](Then<Bytes> then) { render(graph, definition, std::move(then)); });
}

void Graphs::result(const std::string& id, std::uint32_t number, Then<Bytes> then) {
  const Engine::RawName name = task_name(id, number);
  engine_.query_raw(
      name.workflow, name.key,
      [&engine = engine_, task = tasks::task_key(id, number),
       then = std::move(then)](Result<RawInstance> found) mutable {
        if (!found) {
          const bool is_missing = found.error().code == ErrorCode::kNotFound;
          return then(is_missing ? Error{ErrorCode::kNotFound, "there is no task '" + task + "'"}
                                 : found.error());
        }
        if (found->status != InstanceStatus::kCompleted)
          return then(Error{ErrorCode::kConflict, "task '" + task + "' is not done"});
        const auto reference = tasks::reference_of(View::of(found->outcome));
        if (!reference) return then(std::move(found->outcome));
        engine.read_blob({reference->hash.bytes}, std::move(then));
      });
}

Result<Bytes> Graphs::result(const std::string& id, std::uint32_t number) {
  return wait_for<Bytes>([&](Then<Bytes> then) { result(id, number, std::move(then)); });
}

void Graphs::check(const std::string& graph, const Bytes& definition, Then<bool> then) {
  with_outcomes<bool>(
      engine_, graph, definition, engine::read_by_condition,
      [](const tasks::TaskDefinition& task, const tasks::Outcomes& outcomes) {
        return tasks::condition_holds(task, outcomes);
      },
      std::move(then));
}

}  // namespace holdfast
